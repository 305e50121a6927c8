import Crypto
package import Vocabulary

/// The file that every registered domain serves, with which Apple verifies the domain. There is one for each integrator
/// identifier.
package struct DomainFile: Hashable, Sendable {
    /// The path under which a domain serves it.
    package static let path = "/.well-known/apple-developer-merchantid-domain-association"
    /// Apple's files have about 9 KB.
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
