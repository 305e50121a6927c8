import Crypto
import FoundationEssentials
import Glibc
package import Vocabulary

/// The shared secrets of one webhook: one, or two while they are being replaced.
package struct WebhookSecrets: Sendable {
    package static let shortest = 16
    package static let longest = 1_024

    private let keys: [SymmetricKey]

    /// Reads a file with one secret on each line.
    ///
    /// - Throws: ``WebhookConfigurationError`` for a file that cannot be read or that every user can read, or for
    ///   another number or length of secrets.
    package static func read(_ path: String) throws(WebhookConfigurationError) -> WebhookSecrets {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw WebhookConfigurationError(
                "has a secret file \(path) that cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var found = stat()
        guard fstat(descriptor, &found) == 0, found.st_mode & S_IFMT == S_IFREG else {
            throw WebhookConfigurationError("has a secret file \(path) that is not a regular file, expected one")
        }
        guard found.st_mode & 0o007 == 0 else {
            let mode = String(found.st_mode & 0o7777, radix: 8)
            throw WebhookConfigurationError(
                "has a secret file \(path) with mode 0\(mode), expected 0600 or 0640: every user of this machine can read it"
            )
        }
        var buffer = [UInt8](repeating: 0, count: 2 * longest + 8)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        defer { for index in buffer.indices { buffer[index] = 0 } }
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
                "has a secret file \(path) with lines of \(lengths.isEmpty ? "no" : lengths) bytes, expected one or two secrets of \(shortest) to \(longest) bytes, one on each line"
            )
        }
        return WebhookSecrets(keys: lines.map { SymmetricKey(data: $0) })
    }

    /// The value of the header `Merchantkeyd-Signature`: HMAC-SHA256 over the time, a dot and the body, once for each secret.
    package func signature(over body: [UInt8], at time: Timestamp) -> String {
        let seconds = time.millisecondsSince1970 / 1000
        let signed = Array("\(seconds).".utf8) + body
        let codes = keys.map { Hex.encode(HMAC<SHA256>.authenticationCode(for: signed, using: $0)) }
        return "t=\(seconds)" + codes.map { ",v1=\($0)" }.joined()
    }
}
