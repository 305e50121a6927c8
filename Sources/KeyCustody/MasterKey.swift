import Crypto
package import Secrets

/// The key that seals the data keys: 32 random bytes that exist outside the database.
///
/// Nothing but data keys is ever encrypted under it. It is needed while they are opened and may be let go afterwards.
package struct MasterKey: ~Copyable {
    package static let length = 32
    /// How many bytes of its HMAC tell one master key from another.
    static let checkLength = 16

    private let bytes: SecretBytes

    /// - Parameter bytes: exactly ``length`` random bytes.
    package init?(_ bytes: consuming SecretBytes) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }

    /// Draws a new one from the kernel.
    package static func random() -> MasterKey {
        MasterKey(drawn: SecretBytes(count: length, filledBy: Randomness.fill))
    }

    private init(drawn bytes: consuming SecretBytes) { self.bytes = bytes }

    /// The first 16 bytes of HMAC-SHA256 over a fixed text: tells which master key sealed a row, and nothing of the key.
    var check: [UInt8] {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("merchantkeyd master key check 1".utf8), using: symmetricKey)
        return Array(code.prefix(Self.checkLength))
    }

    /// For one operation; swift-crypto wipes its own copy when it is let go.
    var symmetricKey: SymmetricKey { bytes.withUnsafeBytes { SymmetricKey(data: $0) } }

    borrowing func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }
}
