import Crypto
import FoundationEssentials
import Glibc
package import Vocabulary

/// The secrets that the daemon shares with one webhook: one secret, or two while an old secret is replaced by a new
/// one.
package struct WebhookSecrets: Sendable {
    /// The shortest secret, in bytes.
    package static let shortest = 16
    /// The longest secret, in bytes.
    package static let longest = 1_024

    private let keys: [SymmetricKey]

    /// One, or two while an old secret is replaced.
    package var count: Int { keys.count }

    /// Reads a file with one secret on each line.
    ///
    /// - Throws: ``WebhookConfigurationError`` if the file cannot be read, if users other than its owner and its group
    ///   can access it, or if it does not contain one or two secrets of 16 to 1024 bytes. The caller writes words such
    ///   as "the webhook" before the error's text.
    package static func read(_ path: String) throws(WebhookConfigurationError) -> WebhookSecrets {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw WebhookConfigurationError(
                "has a secret file \(path) that cannot be read: \(String(cString: strerror(errno))); \(errno == EACCES ? "the daemon's user (uid \(geteuid())) must be able to read the file and to enter its directories" : "check the path of 'secret-file'")"
            )
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw WebhookConfigurationError(
                "has a secret file \(path) that is not a regular file: check the path of 'secret-file'")
        }
        guard status.st_mode & 0o007 == 0 else {
            let mode = String(status.st_mode & 0o7777, radix: 8)
            throw WebhookConfigurationError(
                "has a secret file \(path) with mode 0\(mode), which every user of this machine can access; change the mode to 0600 or 0640"
            )
        }
        // Large enough for two secrets of the longest length with their line ends, and a few bytes more, so that a
        // longer file is refused. The buffer is not an array: if slices share the storage of an array, overwriting the
        // array overwrites only a copy.
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * longest + 8, alignment: 1)
        defer {
            if let start = buffer.baseAddress { explicit_bzero(start, buffer.count) }
            buffer.deallocate()
        }
        let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        guard count >= 0 else {
            throw WebhookConfigurationError(
                "has a secret file \(path) that cannot be read: \(String(cString: strerror(errno)))")
        }
        let lines = buffer[..<count].split(separator: UInt8(ascii: "\n")).map { line in
            line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        }
        guard (1...2).contains(lines.count), lines.allSatisfy({ (shortest...longest).contains($0.count) }) else {
            let lengths = lines.map { "\($0.count)" }.joined(separator: ", ")
            throw WebhookConfigurationError(
                "has a secret file \(path) with \(lines.isEmpty ? "no lines" : "lines of these lengths in bytes: \(lengths)"); write one or two secrets of \(shortest) to \(longest) bytes, each on its own line"
            )
        }
        return WebhookSecrets(keys: lines.map { SymmetricKey(data: UnsafeRawBufferPointer(rebasing: $0)) })
    }

    /// The value of the header `Merchantkeyd-Signature`: `t=SECONDS`, then `,v1=HMAC` for each secret.
    ///
    /// SECONDS is the time in seconds since 1970. HMAC is the HMAC-SHA256 of SECONDS, a dot and the body.
    package func signature(over body: [UInt8], at time: Timestamp) -> String {
        let seconds = time.millisecondsSince1970 / 1000
        let signed = Array("\(seconds).".utf8) + body
        let codes = keys.map { Hex.encode(HMAC<SHA256>.authenticationCode(for: signed, using: $0)) }
        return "t=\(seconds)" + codes.map { ",v1=\($0)" }.joined()
    }
}
