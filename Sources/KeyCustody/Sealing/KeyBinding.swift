import MerchantCore
import Vocabulary

/// The properties of a key pair that are the associated data when its private key is encrypted (sealed). So the sealed
/// key of one row cannot be used in another row: it would not decrypt there.
struct KeyBinding {
    let merchantIdentifier: MerchantIdentifier
    let publicKeyHash: PublicKeyHash
    let purpose: KeyPurpose
    let algorithm: KeyAlgorithm

    init(
        merchantIdentifier: MerchantIdentifier, publicKeyHash: PublicKeyHash, purpose: KeyPurpose,
        algorithm: KeyAlgorithm
    ) {
        self.merchantIdentifier = merchantIdentifier
        self.publicKeyHash = publicKeyHash
        self.purpose = purpose
        self.algorithm = algorithm
    }

    init(_ keyPair: KeyPair) {
        self.init(
            merchantIdentifier: keyPair.merchantIdentifier, publicKeyHash: keyPair.publicKeyHash,
            purpose: keyPair.purpose, algorithm: keyPair.algorithm)
    }

    func associatedData(version: Int, dataKeyIdentifier: Int) -> [UInt8] {
        var data = AssociatedData(label: "merchantkeyd private key")
        data.append(version)
        data.append(dataKeyIdentifier)
        data.append(merchantIdentifier.rawValue)
        data.append(publicKeyHash.bytes)
        data.append(purpose.rawValue)
        data.append(algorithm.rawValue)
        return data.bytes
    }
}
