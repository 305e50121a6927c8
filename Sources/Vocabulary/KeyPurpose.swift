/// The purpose for which Apple certifies a key pair.
package enum KeyPurpose: String, NamedValue {
    /// Decrypts payment tokens.
    case paymentProcessing
    /// Authenticates the platform or a merchant to Apple in TLS. Requests on the decryptor socket cannot use such a
    /// key.
    case identity
}
