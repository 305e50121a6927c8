import Crypto
import CryptoExtras
import FoundationEssentials
import MerchantCore
import Secrets
import Vocabulary

/// A private key that signs: the CSR of its key pair, or a TLS handshake. A key from the store is unsealed, used and
/// wiped within one function, so that the unsealed key is in memory only briefly.
enum SigningKey {
    case ec(P256.Signing.PrivateKey)
    case rsa(_RSA.Signing.PrivateKey)

    static func generate(_ algorithm: KeyAlgorithm) throws -> SigningKey {
        switch algorithm {
        case .ecV1: .ec(P256.Signing.PrivateKey(compactRepresentable: false))
        case .rsaV1: .rsa(try _RSA.Signing.PrivateKey(keySize: .bits2048))
        }
    }

    /// - Throws: swift-crypto's error if the P-256 scalar is out of range, or the DER is not an RSA key.
    init(_ key: borrowing PrivateKeyBytes) throws {
        switch key.algorithm {
        case .ecV1: self = .ec(try key.bytes.withUnsafeBytes { try P256.Signing.PrivateKey(rawRepresentation: $0) })
        case .rsaV1: self = .rsa(try key.bytes.withUnsafeBytes { try _RSA.Signing.PrivateKey(derRepresentation: $0) })
        }
    }

    /// A copy of the key in the form in which private keys are sealed.
    var privateKeyBytes: PrivateKeyBytes {
        switch self {
        case .ec(let key):
            var scalar = key.rawRepresentation
            defer { Wipe.bytes(&scalar) }
            return PrivateKeyBytes(algorithm: .ecV1, bytes: SecretBytes(copying: scalar))
        case .rsa(let key):
            var der = key.derRepresentation
            defer { Wipe.bytes(&der) }
            return PrivateKeyBytes(algorithm: .rsaV1, bytes: SecretBytes(copying: der))
        }
    }

    /// The SubjectPublicKeyInfo of the public key in DER. Source: RFC 5280 section 4.1.2.7.
    var subjectPublicKeyInfo: [UInt8] {
        switch self {
        case .ec(let key): P256SubjectPublicKeyInfo.encode(point: key.publicKey.x963Representation)
        case .rsa(let key): Array(key.publicKey.derRepresentation)
        }
    }
}
