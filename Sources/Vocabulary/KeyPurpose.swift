/// What a key pair is certified for.
package enum KeyPurpose: String, Sendable, CaseIterable, Codable {
    /// Decrypts payment tokens.
    case paymentProcessing
    /// Authenticates us to Apple in TLS. Never answers on the decryptor's socket.
    case identity
}
