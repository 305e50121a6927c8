import Crypto
import CryptoExtras
import SwiftASN1
import Vocabulary
import X509

/// A CSR that Apple's developer portal would accept: its signature is valid, and its key type is permitted for the
/// purpose of the certificate.
///
/// Like Apple's portal, the sandbox ignores the attributes of the CSR, and does not copy its subject. The subject of
/// the certificate comes from the developer account. Apple accepts CSRs with unusual attributes, and even without the
/// attributes field that PKCS#10 requires.
///
/// Source: Apple, TN3206 "Renewing Apple Pay certificates"; account help, "Create a certificate signing request".
struct SigningRequest {
    let publicKey: Certificate.PublicKey
    /// The merchant that the subject names in its common name or userId, as in the CSRs of merchantkeyd; nil if it
    /// names none.
    let merchant: MerchantIdentifier?

    /// - Parameter bytes: a PKCS#10 CSR, PEM or DER.
    /// - Throws: ``SandboxError`` for a CSR that Apple's portal would reject.
    init(_ bytes: [UInt8], purpose: KeyPurpose) throws(SandboxError) {
        let expected = "one PKCS#10 certificate signing request, PEM or DER"
        let der = try EncodedFile.der(
            of: bytes, labels: ["CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"], expected: expected)
        guard let request = try? ParsedRequest(der) else {
            throw SandboxError("the file is not a CSR, expected \(expected)")
        }
        let key = try Key(request.publicKeyInfo)
        guard Self.permittedKeyTypes(for: purpose).contains(key.type) else {
            let types = Self.permittedKeyTypes(for: purpose).map(\.rawValue).joined(separator: " or ")
            throw SandboxError(
                "the CSR's public key is \(key.type.rawValue), but a certificate for \(purpose) needs \(types): "
                    + "generate a key of that type")
        }
        guard request.algorithm == key.type.signatureAlgorithm else {
            throw SandboxError(
                "the CSR is signed with the algorithm \(request.algorithm), but a \(key.type.rawValue) key "
                    + "must sign with \(key.type.signatureAlgorithmName)")
        }
        guard key.verifies(request.signature, of: request.signedInfo) else {
            throw SandboxError("the signature of the CSR is not valid: sign the CSR with its own private key")
        }
        publicKey = key.certificateKey
        merchant = request.merchant
    }

    /// The key types that Apple permits. The raw values are the names in the error messages of Apple's portal.
    private enum KeyType: String {
        case p256 = "EC(P-256)"
        case rsa2048 = "RSA(2048)"

        /// The object identifier from RFC 5758 (ECDSA) or RFC 4055 (RSA).
        var signatureAlgorithm: ASN1ObjectIdentifier {
            switch self {
            case .p256: [1, 2, 840, 10045, 4, 3, 2]
            case .rsa2048: [1, 2, 840, 113549, 1, 1, 11]
            }
        }

        var signatureAlgorithmName: String {
            switch self {
            case .p256: "ecdsa-with-SHA256"
            case .rsa2048: "sha256WithRSAEncryption"
            }
        }
    }

    private static func permittedKeyTypes(for purpose: KeyPurpose) -> [KeyType] {
        switch purpose {
        case .paymentProcessing: [.p256, .rsa2048]
        case .identity: [.rsa2048]
        }
    }

    private enum Key {
        case p256(P256.Signing.PublicKey)
        case rsa2048(_RSA.Signing.PublicKey)

        init(_ info: [UInt8]) throws(SandboxError) {
            if let key = try? P256.Signing.PublicKey(derRepresentation: info) {
                self = .p256(key)
            } else if let key = try? _RSA.Signing.PublicKey(derRepresentation: info), key.keySizeInBits == 2048 {
                self = .rsa2048(key)
            } else {
                throw SandboxError(
                    "the CSR's public key is neither EC(P-256) nor RSA(2048): generate a key of one of these types")
            }
        }

        var type: KeyType {
            switch self {
            case .p256: .p256
            case .rsa2048: .rsa2048
            }
        }

        /// The key in the form that swift-certificates needs to issue a certificate.
        var certificateKey: Certificate.PublicKey {
            switch self {
            case .p256(let key): Certificate.PublicKey(key)
            case .rsa2048(let key): Certificate.PublicKey(key)
            }
        }

        /// Whether this key made the signature of the content.
        func verifies(_ signature: [UInt8], of content: [UInt8]) -> Bool {
            switch self {
            case .p256(let key):
                guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature) else {
                    return false
                }
                return key.isValidSignature(signature, for: content)
            case .rsa2048(let key):
                let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
                return key.isValidSignature(signature, for: SHA256.hash(data: content), padding: .insecurePKCS1v1_5)
            }
        }
    }

    /// The required fields of a CertificationRequest (RFC 2986).
    private struct ParsedRequest {
        /// The CertificationRequestInfo, which the signature covers. The bytes are exactly those in the CSR: encoding
        /// the fields again could give other bytes.
        let signedInfo: [UInt8]
        let merchant: MerchantIdentifier?
        let publicKeyInfo: [UInt8]
        let algorithm: ASN1ObjectIdentifier
        let signature: [UInt8]

        init(_ der: [UInt8]) throws {
            self = try DER.sequence(try DER.parse(der), identifier: .sequence) { nodes in
                guard let info = nodes.next(), let algorithm = nodes.next() else { throw Malformed() }
                let (merchant, publicKeyInfo) = try Self.fields(of: info)
                return ParsedRequest(
                    signedInfo: Array(info.encodedBytes), merchant: merchant, publicKeyInfo: publicKeyInfo,
                    algorithm: try DER.sequence(algorithm, identifier: .sequence) { nodes in
                        let identifier = try ASN1ObjectIdentifier(derEncoded: &nodes)
                        // The parameters (NULL for RSA) add nothing to the identifier.
                        _ = nodes.next()
                        return identifier
                    },
                    signature: Array(try ASN1BitString(derEncoded: &nodes).bytes))
            }
        }

        private init(
            signedInfo: [UInt8], merchant: MerchantIdentifier?, publicKeyInfo: [UInt8],
            algorithm: ASN1ObjectIdentifier, signature: [UInt8]
        ) {
            self.signedInfo = signedInfo
            self.merchant = merchant
            self.publicKeyInfo = publicKeyInfo
            self.algorithm = algorithm
            self.signature = signature
        }

        /// The fields of the CertificationRequestInfo that the sandbox uses.
        private static func fields(of info: ASN1Node) throws -> (merchant: MerchantIdentifier?, publicKeyInfo: [UInt8])
        {
            try DER.sequence(info, identifier: .sequence) { nodes in
                // The version.
                _ = try Int(derEncoded: &nodes)
                guard let subject = nodes.next(), subject.identifier == .sequence, let key = nodes.next() else {
                    throw Malformed()
                }
                // The attributes, which Apple's portal ignores too.
                while nodes.next() != nil {}
                return (merchantIdentifier(in: subject), Array(key.encodedBytes))
            }
        }

        private static func merchantIdentifier(in subject: ASN1Node) -> MerchantIdentifier? {
            // The common name, and userId (RFC 4519 section 2.39).
            let types: [ASN1ObjectIdentifier] = [[2, 5, 4, 3], SandboxName.userIdentifier]
            guard let name = try? DistinguishedName(derEncoded: subject) else { return nil }
            for attribute in name.joined() where types.contains(attribute.type) {
                if let merchant = String(attribute.value).flatMap({ MerchantIdentifier($0) }) { return merchant }
            }
            return nil
        }
    }

    private struct Malformed: Error {}
}
