import Crypto
package import Vocabulary

/// The file with which Apple verifies a domain. Every registered domain must serve this file. Apple issues one such
/// file for each platform integrator identifier.
package struct DomainFile: Hashable, Sendable {
    /// The path under which a domain serves the file.
    package static let path = "/.well-known/apple-developer-merchantid-domain-association"
    /// The largest accepted file in bytes. Apple's files have about 9 KB.
    package static let largest = 65_536

    package let bytes: [UInt8]
    package let storedAt: Timestamp

    package init(bytes: [UInt8], storedAt: Timestamp) {
        self.bytes = bytes
        self.storedAt = storedAt
    }

    /// Lower-case hexadecimal digits.
    package var sha256: String { Hex.encode(SHA256.hash(data: bytes)) }
}
