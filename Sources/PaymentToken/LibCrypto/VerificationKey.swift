import CLibCrypto

/// The public key of a signing certificate.
final class VerificationKey: @unchecked Sendable {
    // Proof for @unchecked Sendable: no code modifies the public key, and libcrypto counts its references atomically.
    private let pointer: OpaquePointer
    let type: SigningKeyType

    /// Adds a reference to a key that another object owns.
    ///
    /// - Returns: nil if the key is neither an EC nor an RSA key.
    init?(sharing pointer: OpaquePointer) {
        switch EVP_PKEY_get_base_id(pointer) {
        case EVP_PKEY_EC: type = .ec
        case EVP_PKEY_RSA: type = .rsa
        default: return nil
        }
        EVP_PKEY_up_ref(pointer)
        self.pointer = pointer
    }

    deinit { EVP_PKEY_free(pointer) }

    /// Whether the signature over the SHA-256 hash of the bytes is valid. For an EC key, the signature is ECDSA in DER;
    /// for an RSA key, RSASSA-PKCS1-v1_5.
    func isValid(signature: ArraySlice<UInt8>, over bytes: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("out of memory") }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, pointer) == 1 else { return false }
        return signature.withUnsafeBufferPointer { signature in
            EVP_DigestVerify(context, signature.baseAddress, signature.count, bytes, bytes.count) == 1
        }
    }
}
