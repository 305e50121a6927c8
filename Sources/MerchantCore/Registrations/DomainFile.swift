import Crypto
package import Vocabulary

/// The file that every registered domain serves, by which Apple verifies it. One for each integrator identifier.
package struct DomainFile: Hashable, Sendable {
    /// Where a domain serves it.
    package static let path = "/.well-known/apple-developer-merchantid-domain-association"
    /// Apple's are about 9 KB.
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
