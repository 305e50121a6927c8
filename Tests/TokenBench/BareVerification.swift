import CLibCrypto
import Crypto

/// A single ECDSA verification with libcrypto over 134 bytes, the length of a token's signed attributes.
final class BareVerification {
    private let key: OpaquePointer
    private static let message = [UInt8](repeating: 7, count: 134)
    private let signature: [UInt8]

    struct Failure: Error {}

    /// Both curves use SHA-256, because Apple's P-384 root signs its intermediates with SHA-256.
    static func p256() throws -> BareVerification {
        let key = P256.Signing.PrivateKey()
        return try BareVerification(
            Array(key.publicKey.derRepresentation), Array(try key.signature(for: message).derRepresentation))
    }

    static func p384() throws -> BareVerification {
        let key = P384.Signing.PrivateKey()
        return try BareVerification(
            Array(key.publicKey.derRepresentation),
            Array(try key.signature(for: SHA256.hash(data: message)).derRepresentation))
    }

    private init(_ der: [UInt8], _ signature: [UInt8]) throws {
        self.signature = signature
        let read = der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_PUBKEY(nil, &cursor, buffer.count)
        }
        guard let read else { throw Failure() }
        key = read
    }

    deinit { EVP_PKEY_free(key) }

    func verify() throws {
        guard let context = EVP_MD_CTX_new() else { throw Failure() }
        defer { EVP_MD_CTX_free(context) }
        let message = Self.message
        guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1,
            EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        else { throw Failure() }
    }
}
