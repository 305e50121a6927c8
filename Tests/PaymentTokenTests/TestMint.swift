import Crypto
import CryptoExtras
import FoundationEssentials
import PaymentToken
import Vocabulary

/// Mints payment tokens and encrypted token metadata. They are valid by default; tests change properties to mint invalid
/// ones.
struct TestMint {
    static let merchantIdentifier = "merchant.com.example.test"
    static let merchantKey = P256.KeyAgreement.PrivateKey()
    /// Kept as DER, because swift-crypto's type is not `Sendable`.
    static let merchantRSAKey = Result { try _RSA.Encryption.PrivateKey(keySize: .bits2048).derRepresentation }
    static let publicKeyHashes: Set<String> = {
        let rsa = try? _RSA.Encryption.PrivateKey(derRepresentation: merchantRSAKey.get()).publicKey.derRepresentation
        return Set(
            [merchantKey.publicKey.derRepresentation, rsa ?? Data()].map {
                Data(SHA256.hash(data: $0)).base64EncodedString()
            })
    }()
    static let signedAt = Timestamp(millisecondsSince1970: 1_700_000_000_000)  // 2023-11-14T22:13:20Z
    static let plaintext =
        #"{"applicationPrimaryAccountNumber":"4784000000380075","applicationExpirationDate":"290228","#
        + #""currencyCode":"840","transactionAmount":100,"deviceManufacturerIdentifier":"040010030273","#
        + #""paymentDataType":"3DSecure","paymentData":{"onlinePaymentCryptogram":"/x2gvNsADhptD1JXWRhcMAACAAA=","#
        + #""eciIndicator":"7"}}"#

    var version = ApplePayToken.Version.ecV1
    var authority = TestAuthority.shared
    var plaintext = Self.plaintext
    var applicationData: String?
    var ephemeralKey = P256.KeyAgreement.PrivateKey()
    var transactionId = Array(SHA256.hash(data: Array("a transaction".utf8)))

    var signingTime = DER.element(0x17, Array("231114221320Z".utf8))
    var digestAlgorithm = "2.16.840.1.101.3.4.2.1"
    var digestParameters: [UInt8] = []
    var signatureAlgorithm: String?
    var hasAlgorithmProtection = true
    var protectedSignatureAlgorithm: String?
    var contentType = "1.2.840.113549.1.7.1"
    var attachedContent: [UInt8]?
    var changeAttributes: ([[UInt8]]) -> [[UInt8]] = { $0 }
    var changeSignedContent: ([UInt8]) -> [UInt8] = { $0 }
    var changeLeaf: (inout TestAuthority.Certificate) -> Void = { _ in }
    var changeIntermediate: (inout TestAuthority.Certificate) -> Void = { _ in }
    var changeCertificates: ([[UInt8]]) throws -> [[UInt8]] = { $0 }
    var signerCount = 1
    var isIndefinite = true
    var trailing: [UInt8] = []

    /// The decoded fields of a token, so that a test can change any of them.
    struct Parts {
        var version: String
        var keyMaterial: [UInt8]
        var publicKeyHash: [UInt8]
        var transactionId: [UInt8]
        var applicationDataHash: [UInt8]?
        var data: [UInt8]
        var signature: [UInt8]

        /// The name of the key material's field. The default is the one for `version`.
        var keyName: String {
            get { setKeyName ?? (version == "EC_v1" ? "ephemeralPublicKey" : "wrappedKey") }
            set { setKeyName = newValue }
        }
        private var setKeyName: String?

        init(
            version: String, keyMaterial: [UInt8], publicKeyHash: [UInt8], transactionId: [UInt8],
            applicationDataHash: [UInt8]?, data: [UInt8], signature: [UInt8]
        ) {
            self.version = version
            self.keyMaterial = keyMaterial
            self.publicKeyHash = publicKeyHash
            self.transactionId = transactionId
            self.applicationDataHash = applicationDataHash
            self.data = data
            self.signature = signature
        }

        init(_ token: ApplePayToken) {
            self.init(
                version: token.version.rawValue, keyMaterial: token.keyMaterial.bytes,
                publicKeyHash: token.publicKeyHash.bytes, transactionId: token.transactionId.bytes,
                applicationDataHash: token.applicationDataHash, data: token.data, signature: token.signature)
        }

        var json: String {
            let application = applicationDataHash.map { #","applicationData":"\#(Hex.encode($0))""# } ?? ""
            return #"{"version":"\#(version)","data":"\#(base64(data))","signature":"\#(base64(signature))","#
                + #""header":{"\#(keyName)":"\#(base64(keyMaterial))","publicKeyHash":"\#(base64(publicKeyHash))","#
                + #""transactionId":"\#(Hex.encode(transactionId))"\#(application)}}"#
        }

        func token() throws -> ApplePayToken { try ApplePayToken(parsing: Array(json.utf8)) }

        private func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
    }

    func token() throws -> ApplePayToken { try parts().token() }

    func parts() throws -> Parts {
        let encryption = try encrypted()
        var parts = Parts(
            version: version.rawValue, keyMaterial: encryption.keyMaterial, publicKeyHash: encryption.publicKeyHash,
            transactionId: transactionId,
            applicationDataHash: applicationData.map { Array(SHA256.hash(data: Array($0.utf8))) },
            data: encryption.data, signature: [])
        let content = parts.keyMaterial + parts.data + transactionId + (parts.applicationDataHash ?? [])
        parts.signature = try message(over: changeSignedContent(content))
        return parts
    }

    /// Encrypts the plaintext to the merchant's key.
    func encrypted() throws -> (keyMaterial: [UInt8], publicKeyHash: [UInt8], data: [UInt8]) {
        let (key, material, hash) = try keys()
        let sealed = try AES.GCM.seal(
            Array(plaintext.utf8), using: key, nonce: AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 16)))
        return (material, hash, Array(sealed.ciphertext + sealed.tag))
    }

    /// Restores the symmetric key with the merchant's private key.
    static func restoredKey(of message: some AppleMessage) throws -> SymmetricKey {
        switch message.keyMaterial {
        case .ephemeralPublicKey(let key):
            try SymmetricKeyDerivation.symmetricKey(
                sharedSecret: merchantKey.sharedSecretFromKeyAgreement(with: key.agreementKey),
                merchantIdentifier: merchantIdentifier)
        case .wrappedKey(let key):
            SymmetricKey(
                data: try _RSA.Encryption.PrivateKey(derRepresentation: merchantRSAKey.get()).decrypt(
                    key.bytes, padding: .PKCS1_OAEP_SHA256))
        }
    }

    private func keys() throws -> (SymmetricKey, material: [UInt8], publicKeyHash: [UInt8]) {
        switch version {
        case .ecV1:
            let secret = try ephemeralKey.sharedSecretFromKeyAgreement(with: Self.merchantKey.publicKey)
            return (
                try SymmetricKeyDerivation.symmetricKey(
                    sharedSecret: secret, merchantIdentifier: Self.merchantIdentifier),
                Array(ephemeralKey.publicKey.derRepresentation),
                Array(SHA256.hash(data: Self.merchantKey.publicKey.derRepresentation))
            )
        case .rsaV1:
            let key = SymmetricKey(size: .bits128)
            let merchant = try _RSA.Encryption.PrivateKey(derRepresentation: Self.merchantRSAKey.get()).publicKey
            let wrapped = try merchant.encrypt(
                key.withUnsafeBytes { Data($0) }, padding: .PKCS1_OAEP_SHA256)
            return (
                key, Array(wrapped), Array(SHA256.hash(data: merchant.derRepresentation))
            )
        }
    }

    // MARK: - CMS message, RFC 5652 section 5

    func message(over content: [UInt8]) throws -> [UInt8] {
        var leaf = try authority.leaf(version)
        changeLeaf(&leaf)
        var intermediate = authority.intermediate
        changeIntermediate(&intermediate)
        let certificates = try changeCertificates([
            authority.signedByIntermediate(leaf), authority.signedByRoot(intermediate),
        ])
        let signer = try signerInfo(over: content, named: leaf)
        let signers = (0..<signerCount).map { _ in signer }
        let wrap = isIndefinite ? DER.indefinite : DER.element
        let attached = attachedContent.map { wrap(0xA0, DER.octets($0)) } ?? []
        let signedData = wrap(
            0x30,
            DER.integer([1]) + DER.set(digest) + wrap(0x30, DER.oid(contentType) + attached)
                + wrap(0xA0, Array(certificates.joined())) + DER.element(0x31, Array(signers.joined())))
        return wrap(0x30, DER.oid("1.2.840.113549.1.7.2") + wrap(0xA0, signedData)) + trailing
    }

    private var digest: [UInt8] { DER.sequence(DER.oid(digestAlgorithm), digestParameters) }

    private var usedSignatureAlgorithm: String {
        signatureAlgorithm ?? (version == .ecV1 ? "1.2.840.10045.4.3.2" : "1.2.840.113549.1.1.11")
    }

    private func signerInfo(over content: [UInt8], named leaf: TestAuthority.Certificate) throws -> [UInt8] {
        let none = version == .ecV1 ? [] : DER.null
        var attributes = [
            Self.attribute("1.2.840.113549.1.9.3", DER.oid("1.2.840.113549.1.7.1")),
            Self.attribute("1.2.840.113549.1.9.5", signingTime),
        ]
        if hasAlgorithmProtection {
            let protected = DER.oid(protectedSignatureAlgorithm ?? usedSignatureAlgorithm) + none
            attributes.append(
                Self.attribute("1.2.840.113549.1.9.52", DER.sequence(digest, DER.element(0xA1, protected))))
        }
        attributes.append(
            Self.attribute("1.2.840.113549.1.9.4", DER.octets(Array(SHA256.hash(data: content)))))
        let sent = Array(changeAttributes(attributes).joined())
        // Signed in the order sent, not sorted as DER requires: libcrypto also verifies the order sent. Apple's order is
        // sorted.
        let signed = DER.element(0x31, sent)
        let signature: [UInt8]
        switch version {
        case .ecV1: signature = Array(try authority.ecKey.signature(for: signed).derRepresentation)
        case .rsaV1:
            signature = Array(
                try authority.rsaKey.signature(for: SHA256.hash(data: signed), padding: .insecurePKCS1v1_5)
                    .rawRepresentation)
        }
        return DER.sequence(
            DER.integer([1]), TestAuthority.issuerAndSerial(leaf), digest, DER.element(0xA0, sent),
            DER.sequence(DER.oid(usedSignatureAlgorithm), none), DER.octets(signature))
    }

    static func attribute(_ type: String, _ value: [UInt8]...) -> [UInt8] {
        DER.sequence(DER.oid(type), DER.element(0x31, Array(value.joined())))
    }
}
