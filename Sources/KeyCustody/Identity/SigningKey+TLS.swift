import Crypto
import CryptoExtras
import MerchantCore

extension SigningKey {
    /// The TLS signature schemes that this key supports.
    var tlsAlgorithms: [TLSSignatureAlgorithm] {
        switch self {
        case .ec: [.ecdsaP256SHA256]
        case .rsa: TLSSignatureAlgorithm.rsa
        }
    }

    /// Hashes and signs `bytes` as RFC 8446 section 4.2.3 requires. An RSA-PSS salt is as long as the hash. An ECDSA
    /// signature is in DER.
    ///
    /// - Throws: `keyUnsupported` for a scheme of another key type.
    func tlsSignature(over bytes: [UInt8], _ algorithm: TLSSignatureAlgorithm) throws -> [UInt8] {
        switch (self, algorithm) {
        case (.ec(let key), .ecdsaP256SHA256): Array(try key.signature(for: bytes).derRepresentation)
        case (.rsa(let key), .rsaPSSSHA256): try Self.sign(SHA256.hash(data: bytes), key, .PSS)
        case (.rsa(let key), .rsaPSSSHA384): try Self.sign(SHA384.hash(data: bytes), key, .PSS)
        case (.rsa(let key), .rsaPSSSHA512): try Self.sign(SHA512.hash(data: bytes), key, .PSS)
        case (.rsa(let key), .rsaPKCS1SHA256): try Self.sign(SHA256.hash(data: bytes), key, .insecurePKCS1v1_5)
        case (.rsa(let key), .rsaPKCS1SHA384): try Self.sign(SHA384.hash(data: bytes), key, .insecurePKCS1v1_5)
        case (.rsa(let key), .rsaPKCS1SHA512): try Self.sign(SHA512.hash(data: bytes), key, .insecurePKCS1v1_5)
        case (.ec, _), (.rsa, .ecdsaP256SHA256):
            throw MerchantError(.keyUnsupported, "the identity's key cannot sign \(algorithm)")
        }
    }

    private static func sign(
        _ digest: some Digest, _ key: _RSA.Signing.PrivateKey, _ padding: _RSA.Signing.Padding
    ) throws -> [UInt8] {
        Array(try key.signature(for: digest, padding: padding).rawRepresentation)
    }
}
