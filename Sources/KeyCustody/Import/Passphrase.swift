import CLibCrypto
import MerchantCore
import Secrets

/// A passphrase as libcrypto expects it: bytes with a terminating zero.
struct Passphrase: ~Copyable {
    /// The longest passphrase in bytes: OpenSSL's limit (PEM_BUFSIZE, 1024) without the terminating zero.
    static let longest = 1023

    /// OpenSSL's `pem_password_cb`.
    typealias Callback =
        @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32

    private let terminated: SecretBytes

    /// - Throws: `malformed` if the passphrase is too long, or contains a zero byte, which libcrypto would take as the
    ///   passphrase's end.
    init(_ bytes: borrowing SecretBytes) throws(MerchantError) {
        guard bytes.count <= Self.longest else {
            throw MerchantError(
                .malformed, "the passphrase has \(bytes.count) bytes, expected at most \(Self.longest)")
        }
        guard bytes.withUnsafeBytes({ !$0.contains(0) }) else {
            throw MerchantError(.malformed, "the passphrase contains a zero byte, which is not supported")
        }
        terminated = bytes.withUnsafeBytes { source in
            SecretBytes(count: source.count + 1) { $0.copyBytes(from: source) }
        }
    }

    var count: Int { terminated.count - 1 }
    var isEmpty: Bool { count == 0 }

    borrowing func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        // swift-format-ignore: NeverForceUnwrap
        terminated.withUnsafeBytes { body($0.assumingMemoryBound(to: CChar.self).baseAddress!) }  // at least the zero
    }

    /// Passes the passphrase to a libcrypto function that takes a callback. Without a callback, libcrypto would prompt
    /// on the terminal.
    borrowing func withCallback<Result>(
        _ body: (@escaping Callback, UnsafeMutableRawPointer) -> Result
    ) -> Result {
        terminated.withUnsafeBytes { bytes in
            var bytes = bytes
            return withUnsafeMutablePointer(to: &bytes) { context in
                body(
                    { buffer, capacity, _, context in
                        guard let buffer, let context else { return -1 }
                        let passphrase = context.assumingMemoryBound(to: UnsafeRawBufferPointer.self).pointee
                        let count = passphrase.count - 1
                        guard count > 0, count <= Int(capacity) else { return -1 }
                        // More than one byte, so there is a base address.
                        // swift-format-ignore: NeverForceUnwrap
                        UnsafeMutableRawPointer(buffer).copyMemory(from: passphrase.baseAddress!, byteCount: count)
                        return Int32(count)
                    }, UnsafeMutableRawPointer(context))
            }
        }
    }
}
