/// The purpose that a key pair is certified for.
package enum KeyPurpose: String, NamedValue {
    /// Decrypts payment tokens.
    case paymentProcessing
    /// Authenticates the platform to Apple in TLS. Never used on the decryptor socket.
    case identity
}
