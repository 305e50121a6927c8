import CLibCrypto
import Secrets

/// A 256-bit key for AES-GCM that leaves no copies of itself in freed memory: a master key or a data key.
///
/// This type uses libcrypto, which wipes key schedules and MAC keys before it frees their memory. swift-crypto does not
/// wipe them, so a replaced key could be found in freed memory long afterwards.
final class SealingKey: Sendable {
    static let length = 32
    private static let nonceLength = 12
    private static let tagLength = 16

    private let bytes: SecretBytes

    /// - Parameter bytes: exactly ``length`` random bytes.
    init?(_ bytes: consuming SecretBytes) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }

    /// Generates a key from the kernel's random numbers.
    static func random() -> SealingKey {
        guard let key = SealingKey(SecretBytes(count: length, filledBy: Randomness.fill)) else {
            preconditionFailure("the bytes have the required length")
        }
        return key
    }

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }

    /// Encrypts `plaintext`, and authenticates `associated` with it.
    ///
    /// - Returns: a random nonce, the ciphertext and the tag, joined.
    func seal(_ plaintext: UnsafeRawBufferPointer, authenticating associated: [UInt8]) -> [UInt8] {
        var sealed = [UInt8](repeating: 0, count: Self.nonceLength + plaintext.count + Self.tagLength)
        let isDone = sealed.withUnsafeMutableBytes { sealed in
            let nonce = UnsafeMutableRawBufferPointer(rebasing: sealed[..<Self.nonceLength])
            let text = UnsafeMutableRawBufferPointer(rebasing: sealed[Self.nonceLength...].dropLast(Self.tagLength))
            let tag = UnsafeMutableRawBufferPointer(rebasing: sealed.suffix(Self.tagLength))
            Randomness.fill(nonce)
            return perform(encrypts: true, UnsafeRawBufferPointer(nonce), associated, from: plaintext, to: text, tag)
        }
        precondition(isDone, "AES-GCM accepts every plaintext of these lengths")
        return sealed
    }

    /// Decrypts the result of ``seal(_:authenticating:)``.
    ///
    /// - Returns: the plaintext, or nil if this key did not seal the bytes with this associated data.
    func open(_ sealed: [UInt8], authenticating associated: [UInt8]) -> SecretBytes? {
        guard sealed.count > Self.nonceLength + Self.tagLength else { return nil }
        var isDone = false
        let opened = SecretBytes(count: sealed.count - Self.nonceLength - Self.tagLength) { memory in
            var tag = Array(sealed.suffix(Self.tagLength))
            isDone = sealed.withUnsafeBytes { sealed in
                let text = UnsafeRawBufferPointer(rebasing: sealed[Self.nonceLength...].dropLast(Self.tagLength))
                let nonce = UnsafeRawBufferPointer(rebasing: sealed[..<Self.nonceLength])
                return tag.withUnsafeMutableBytes { tag in
                    perform(encrypts: false, nonce, associated, from: text, to: memory, tag)
                }
            }
        }
        guard isDone else { return nil }
        return opened
    }

    /// HMAC-SHA256 over a text.
    func authenticationCode(over text: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        let isDone = withUnsafeBytes { key in
            OpenSSLContext.authenticationCode(&code, over: text, key)
        }
        precondition(isDone, "HMAC-SHA256 accepts every key and text")
        return code
    }

    /// Encrypts or decrypts with AES-256-GCM.
    ///
    /// - Parameter tag: the authentication tag. Encryption writes it, decryption reads it.
    /// - Returns: false if libcrypto reports an error, such as a wrong tag.
    private func perform(
        encrypts: Bool, _ nonce: UnsafeRawBufferPointer, _ associated: [UInt8], from input: UnsafeRawBufferPointer,
        to output: UnsafeMutableRawBufferPointer, _ tag: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard let context = EVP_CIPHER_CTX_new() else { return false }
        // EVP_CIPHER_CTX_free also wipes the key schedule.
        defer { EVP_CIPHER_CTX_free(context) }
        var count: Int32 = 0
        let isInitialized = withUnsafeBytes { key in
            EVP_CipherInit_ex(
                context, OpenSSLContext.aes256GCM, nil, key.assumingMemoryBound(to: UInt8.self).baseAddress,
                nonce.assumingMemoryBound(to: UInt8.self).baseAddress, encrypts ? 1 : 0) == 1
        }
        // Without an output buffer, EVP_CipherUpdate takes associated data.
        guard isInitialized, EVP_CipherUpdate(context, nil, &count, associated, Int32(associated.count)) == 1,
            EVP_CipherUpdate(
                context, output.assumingMemoryBound(to: UInt8.self).baseAddress, &count,
                input.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(input.count)) == 1
        else { return false }
        if !encrypts,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), tag.baseAddress) != 1
        {
            return false
        }
        var end = [UInt8](repeating: 0, count: 16)
        guard EVP_CipherFinal_ex(context, &end, &count) == 1 else { return false }
        return !encrypts
            || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), tag.baseAddress) == 1
    }
}

extension OpenSSLContext {
    /// Proof for @unchecked Sendable: a fetched algorithm is immutable and may be shared between threads
    /// (EVP_CIPHER_fetch(3)).
    private struct Cipher: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    private static let cipher: Cipher = {
        guard let pointer = perform({ EVP_CIPHER_fetch(nil, "AES-256-GCM", nil) }) else {
            preconditionFailure("the default provider has AES-256-GCM")
        }
        return Cipher(pointer: pointer)
    }()

    static var aes256GCM: OpaquePointer { cipher.pointer }

    /// Writes the HMAC-SHA256 of a text to the 32 bytes of `code`. Returns whether this succeeded.
    static func authenticationCode(
        _ code: inout [UInt8], over text: [UInt8], _ key: UnsafeRawBufferPointer
    ) -> Bool {
        var length = 0
        return perform {
            EVP_Q_mac(
                nil, "HMAC", nil, "SHA256", nil, key.baseAddress, key.count, text, text.count, &code, code.count,
                &length) != nil
        } && length == code.count
    }
}
