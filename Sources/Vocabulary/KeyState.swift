/// The state of a key pair, as far as the daemon knows: Apple does not report to which key it encrypts. The usual order
/// is `pending → standby → current → retiring → revoked → destroyed`.
package enum KeyState: String, NamedValue {
    /// The key pair has a CSR, but no certificate yet.
    case pending
    /// The key pair has a certificate. Apple does not encrypt to the key yet.
    case standby
    /// Apple encrypts to the key. At most one key pair per merchant, purpose and algorithm is current.
    case current
    /// Apple encrypts to another key now. Tokens that are encrypted to this key may still arrive.
    case retiring
    /// Revoked, with or without a certificate. Tokens for the key are refused. The encrypted private key is kept, so
    /// that the key can be restored.
    case revoked
    /// The private key is erased. The certificate and the history are kept.
    case destroyed

    /// Whether the key pair may be used: a payment processing key pair by decryptors (processes that need tokens
    /// decrypted), an identity key pair by the daemon.
    package var isActive: Bool {
        switch self {
        case .standby, .current, .retiring: true
        case .pending, .revoked, .destroyed: false
        }
    }
}
