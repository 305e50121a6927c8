package import MerchantCore
package import Secrets

/// The key that seals (encrypts) the data keys: 32 random bytes that are kept outside of the database.
///
/// The master key encrypts only data keys. Once the data keys are unsealed, the daemon no longer needs the master key.
package struct MasterKey: ~Copyable {
    package static let length = SealingKey.length

    let key: SealingKey

    /// - Parameter bytes: exactly ``length`` random bytes.
    package init?(_ bytes: consuming SecretBytes) {
        guard let key = SealingKey(bytes) else { return nil }
        self.key = key
    }

    /// Generates a master key from the kernel's random numbers.
    package static func random() -> MasterKey { MasterKey(generated: .random()) }

    private init(generated key: SealingKey) { self.key = key }

    /// Identifies the master key, and reveals nothing about its bytes: the first 16 bytes of HMAC-SHA256 with this key
    /// over a fixed text.
    package var identifier: MasterKeyIdentifier {
        let code = key.authenticationCode(over: Array("merchantkeyd master key check 1".utf8))
        return MasterKeyIdentifier(bytes: Array(code.prefix(MasterKeyIdentifier.length)))
    }

    borrowing func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try key.withUnsafeBytes(body)
    }
}
