/// The purpose for which Apple certifies a key pair.
package enum KeyPurpose: String, NamedValue {
    /// Decrypts payment tokens.
    case paymentProcessing
    /// Authenticates the platform or a merchant to Apple in TLS. Decryptors cannot resolve such a key or decrypt tokens
    /// with it.
    case identity
}
