package import MerchantCore
import Secrets
import Vocabulary

extension Keyring {
    /// The version of the format of a sealed account number: nonce, ciphertext and tag. The plaintext is the digits in
    /// ASCII, padded with zero bytes to ``paddedLength``.
    private static let mpanSealVersion = 1
    /// One more than the 19 digits of the longest account number.
    private static let paddedLength = 20

    /// Whether this keyring has the data key of a stored account number, and supports the version of its format. If so,
    /// and the number still cannot be unsealed, its sealed bytes are damaged.
    package func knowsKeyAndFormat(of stored: SealedMPAN) -> Bool {
        stored.version == Self.mpanSealVersion && holds(stored.dataKeyIdentifier)
    }

    /// Seals a stored account number again, under the data key ``newest``.
    ///
    /// - Throws: as ``open(_:)``.
    package func resealed(_ stored: SealedMPAN) throws(MerchantError) -> SealedMPAN {
        let digits = try open(stored)
        return digits.withUnsafeBytes { seal($0, of: stored.owner) }
    }

    /// Seals an account number under the data key ``newest``.
    ///
    /// - Parameter digits: at most 19 digits in ASCII.
    func seal(_ digits: UnsafeRawBufferPointer, of owner: SealedMPAN.Owner) -> SealedMPAN {
        precondition(digits.count < Self.paddedLength, "an account number has at most 19 digits")
        let padded = SecretBytes(count: Self.paddedLength) { $0.copyMemory(from: digits) }
        let (identifier, dataKey) = newestDataKey
        let associated = owner.associatedData(version: Self.mpanSealVersion, dataKeyIdentifier: identifier)
        let sealed = padded.withUnsafeBytes { dataKey.seal($0, authenticating: associated) }
        return SealedMPAN(
            owner: owner, version: Self.mpanSealVersion, dataKeyIdentifier: identifier, bytes: sealed)
    }

    /// - Throws: `keyDamaged` with the merchant token, if the sealed bytes are damaged or belong to another merchant
    ///   token; `storeUnavailable` if this daemon has not loaded the data key yet.
    func open(_ sealed: SealedMPAN) throws(MerchantError) -> SecretBytes {
        guard sealed.version == Self.mpanSealVersion else {
            throw Self.damaged(
                sealed.owner, "is sealed in version \(sealed.version), expected \(Self.mpanSealVersion)")
        }
        guard let dataKey = dataKey(sealed.dataKeyIdentifier) else {
            throw notLoaded(sealed.dataKeyIdentifier)
                ?? Self.damaged(
                    sealed.owner, "is sealed under data key \(sealed.dataKeyIdentifier), which does not exist")
        }
        let associated = sealed.owner.associatedData(
            version: sealed.version, dataKeyIdentifier: sealed.dataKeyIdentifier)
        guard let padded = dataKey.open(sealed.bytes, authenticating: associated) else {
            throw Self.damaged(
                sealed.owner, "cannot be decrypted: it is damaged or belongs to another merchant token")
        }
        return padded.withUnsafeBytes { bytes in SecretBytes(copying: bytes.prefix { $0 != 0 }) }
    }

    /// - Parameter why: the predicate of a sentence whose subject is the stored account number.
    private static func damaged(_ owner: SealedMPAN.Owner, _ why: String) -> MerchantError {
        MerchantError(
            .keyDamaged,
            "the stored account number of the merchant token \(owner.merchantTokenIdentifier) \(why): restore a backup")
    }
}

extension SealedMPAN.Owner {
    fileprivate func associatedData(version: Int, dataKeyIdentifier: Int) -> [UInt8] {
        var data = AssociatedData(label: "merchantkeyd account number of a merchant token")
        data.append(version)
        data.append(dataKeyIdentifier)
        data.append(merchantTokenIdentifier.rawValue)
        data.append(merchantIdentifier.rawValue)
        return data.bytes
    }
}
