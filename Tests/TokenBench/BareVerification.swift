import CLibCrypto
import Crypto

/// One ECDSA verification on P-256 over 134 bytes, as many as signed attributes have, by libcrypto and nothing around it.
final class BareVerification {
    private let key: OpaquePointer
    private let message = [UInt8](repeating: 7, count: 134)
    private let signature: [UInt8]

    struct Failed: Error {}

    init() throws {
        let made = P256.Signing.PrivateKey()
        signature = Array(try made.signature(for: message).derRepresentation)
        let der = Array(made.publicKey.derRepresentation)
        let read = der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_PUBKEY(nil, &cursor, buffer.count)
        }
        guard let read else { throw Failed() }
        key = read
    }

    deinit { EVP_PKEY_free(key) }

    func verify() throws {
        guard let context = EVP_MD_CTX_new() else { throw Failed() }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1,
            EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        else { throw Failed() }
    }
}
