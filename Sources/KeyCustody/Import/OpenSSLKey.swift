import CLibCrypto
import Crypto
import CryptoExtras
import FoundationEssentials
import MerchantCore
import Secrets
import Vocabulary

/// A private key that libcrypto has read, before it is converted to ``PrivateKeyBytes``. libcrypto wipes the memory of
/// a key before it frees the memory.
struct OpenSSLKey: ~Copyable {
    private let key: OpaquePointer

    init(takingOwnershipOf key: OpaquePointer) { self.key = key }

    deinit { EVP_PKEY_free(key) }

    /// Reads a `PrivateKeyInfo`, RFC 5208 section 5.
    init(pkcs8 bytes: UnsafeRawBufferPointer) throws(MerchantError) {
        var next = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        guard let info = d2i_PKCS8_PRIV_KEY_INFO(nil, &next, bytes.count) else {
            throw PrivateKeyFile.malformed("holds a block that is labelled as PKCS#8, but does not contain PKCS#8")
        }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        guard isAtEnd(next, of: bytes) else { throw PrivateKeyFile.malformed("holds bytes after its private key") }
        guard let key = EVP_PKCS82PKEY(info) else {
            throw PrivateKeyFile.malformed("holds PKCS#8 with a key that cannot be read, expected P-256 or RSA-2048")
        }
        self.init(takingOwnershipOf: key)
    }

    /// Decrypts and reads an `EncryptedPrivateKeyInfo`, RFC 5208 section 6.
    init(encryptedPKCS8 bytes: UnsafeRawBufferPointer, _ passphrase: borrowing Passphrase) throws(MerchantError) {
        try KeyDerivationLimit.check(bytes)
        var next = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        guard let encrypted = d2i_X509_SIG(nil, &next, bytes.count) else {
            throw PrivateKeyFile.malformed(
                "holds a block that is labelled as encrypted PKCS#8, but does not contain encrypted PKCS#8")
        }
        defer { X509_SIG_free(encrypted) }
        guard isAtEnd(next, of: bytes) else { throw PrivateKeyFile.malformed("holds bytes after its private key") }
        guard let info = passphrase.withCString({ PKCS8_decrypt(encrypted, $0, Int32(passphrase.count)) }) else {
            throw OpenSSLKey.decryptionFailure()
        }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        // A wrong passphrase can give valid padding by chance. The decrypted bytes are then not a key.
        guard let key = EVP_PKCS82PKEY(info) else { throw PrivateKeyFile.wrongPassphrase }
        self.init(takingOwnershipOf: key)
    }

    /// Reads an `ECPrivateKey` (RFC 5915, SEC1) or an `RSAPrivateKey` (RFC 8017, PKCS#1).
    ///
    /// - Parameter type: `EVP_PKEY_EC` or `EVP_PKEY_RSA`.
    init(traditional bytes: UnsafeRawBufferPointer, _ type: Int32) throws(MerchantError) {
        var next = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        guard let key = d2i_PrivateKey(type, nil, &next, bytes.count) else {
            throw PrivateKeyFile.malformed("holds a private key that cannot be read")
        }
        guard isAtEnd(next, of: bytes) else {
            EVP_PKEY_free(key)
            throw PrivateKeyFile.malformed("holds bytes after its private key")
        }
        self.init(takingOwnershipOf: key)
    }

    /// Whether a certificate of libcrypto is for this key.
    borrowing func isCertified(by certificate: OpaquePointer) -> Bool { X509_check_private_key(certificate, key) == 1 }

    /// Validates and converts the key. Accepts only P-256 and RSA-2048, the types that Apple certifies.
    ///
    /// - Throws: `keyUnsupported` for any other type; `privateKeyMalformed` if the public and the private half do not
    ///   match.
    consuming func importedKey() throws(MerchantError) -> PrivateKeyFile.ImportedKey {
        let typeName = try typeName()
        let bytes: PrivateKeyBytes
        switch typeName {
        case "P-256": bytes = PrivateKeyBytes(algorithm: .ecV1, bytes: try scalar())
        case "RSA-2048": bytes = PrivateKeyBytes(algorithm: .rsaV1, bytes: try der())
        default:
            throw MerchantError(.keyUnsupported, "the private key's type is \(typeName), expected P-256 or RSA-2048")
        }
        // swift-crypto checks that the scalar is in range, or that the RSA primes multiply to the modulus.
        guard let signingKey = try? SigningKey(bytes), matchesPublicHalf(signingKey) else {
            throw PrivateKeyFile.malformed(
                "holds an inconsistent private key: its numbers do not match: export the key again")
        }
        return PrivateKeyFile.ImportedKey(bytes: bytes, signingKey: signingKey)
    }

    /// The name of the key's type, such as "P-256" or "RSA-2048". Names of other types are used only in error messages.
    private func typeName() throws(MerchantError) -> String {
        if EVP_PKEY_is_a(key, "RSA") == 1 { return "RSA-\(EVP_PKEY_get_bits(key))" }
        guard EVP_PKEY_is_a(key, "EC") == 1 else {
            return EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "unknown"
        }
        var name = [CChar](repeating: 0, count: 80)
        var length = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else {
            throw MerchantError(
                .keyUnsupported, "the private key is an EC key on a curve without a name, expected P-256 or RSA-2048")
        }
        let curve = String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return PublicKeyTypeName.ofCurves[curve] ?? curve
    }

    /// The private number of an EC key as 32 bytes, big-endian.
    private func scalar() throws(MerchantError) -> SecretBytes {
        guard let secret = number(OSSL_PKEY_PARAM_PRIV_KEY) else {
            throw PrivateKeyFile.malformed("holds an EC key without its private half")
        }
        defer { BN_clear_free(secret) }
        var isWritten = false
        let bytes = SecretBytes(count: 32) { memory in
            isWritten = BN_bn2binpad(secret, memory.assumingMemoryBound(to: UInt8.self).baseAddress, 32) == 32
        }
        guard isWritten else { throw PrivateKeyFile.malformed("holds a private number too large for P-256") }
        return bytes
    }

    /// An RSA key as `RSAPrivateKey` in DER.
    private func der() throws(MerchantError) -> SecretBytes {
        var memory: UnsafeMutablePointer<UInt8>?
        let count = i2d_PrivateKey(key, &memory)
        guard count > 0, let memory else { throw PrivateKeyFile.malformed("holds an incomplete RSA key") }
        defer { CRYPTO_clear_free(memory, Int(count), #fileID, #line) }
        return SecretBytes(copying: UnsafeBufferPointer(start: memory, count: Int(count)))
    }

    /// Whether the public half matches the private half. libcrypto has the public half from the file, or has computed
    /// the public half if the file has none.
    private func matchesPublicHalf(_ signingKey: SigningKey) -> Bool {
        switch signingKey {
        case .ec(let key):
            let point = key.publicKey.rawRepresentation
            return hasNumber(OSSL_PKEY_PARAM_EC_PUB_X, equalTo: point.prefix(32))
                && hasNumber(OSSL_PKEY_PARAM_EC_PUB_Y, equalTo: point.suffix(32))
        case .rsa(let key):
            guard let numbers = try? key.publicKey.getKeyPrimitives() else { return false }
            return hasNumber(OSSL_PKEY_PARAM_RSA_N, equalTo: numbers.modulus)
                && hasNumber(OSSL_PKEY_PARAM_RSA_E, equalTo: numbers.publicExponent)
        }
    }

    /// Whether the key's parameter `name` equals the number `expected`, which is big-endian.
    private func hasNumber(_ name: String, equalTo expected: some Collection<UInt8>) -> Bool {
        guard let number = number(name) else { return false }
        defer { BN_free(number) }
        var bytes = [UInt8](repeating: 0, count: expected.count)
        return BN_bn2binpad(number, &bytes, Int32(bytes.count)) == bytes.count && bytes.elementsEqual(expected)
    }

    /// The key's parameter `name` as a number of libcrypto, which the caller must free; nil if the key lacks the
    /// parameter.
    private func number(_ name: String) -> OpaquePointer? {
        var number: OpaquePointer?
        return EVP_PKEY_get_bn_param(key, name, &number) == 1 ? number : nil
    }

    /// Returns the error for a failed decryption. libcrypto's error queue shows whether the cipher is unsupported;
    /// otherwise the passphrase is wrong.
    static func decryptionFailure() -> MerchantError {
        var isUnsupported = false
        while case let code = ERR_get_error(), code != 0 {
            let reason = clibcrypto_err_reason(code)
            isUnsupported =
                isUnsupported || reason == ERR_R_UNSUPPORTED || reason == EVP_R_UNKNOWN_PBE_ALGORITHM
                || reason == EVP_R_UNSUPPORTED_ALGORITHM || reason == EVP_R_UNSUPPORTED_CIPHER
                || reason == EVP_R_UNSUPPORTED_PRF || reason == EVP_R_UNSUPPORTED_KEY_DERIVATION_FUNCTION
                || reason == EVP_R_UNKNOWN_CIPHER
        }
        guard isUnsupported else { return PrivateKeyFile.wrongPassphrase }
        let hint =
            OpenSSLContext.hasLegacyProvider
            ? "" : " (OpenSSL's legacy provider is not installed: on Debian the package openssl-provider-legacy)"
        return MerchantError(
            .keyUnsupported, "the private key file is encrypted with an unsupported cipher\(hint)")
    }
}

/// Whether a DER reader consumed all bytes.
private func isAtEnd(_ next: UnsafePointer<UInt8>?, of bytes: UnsafeRawBufferPointer) -> Bool {
    guard let next, let start = bytes.baseAddress else { return false }
    return UnsafeRawPointer(next) - start == bytes.count
}
