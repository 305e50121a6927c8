/// The state of a key pair: `pending → standby → current → retiring → revoked → destroyed`.
package enum KeyState: String, NamedValue {
    /// Generated, with a CSR. No certificate is stored yet.
    case pending
    /// A certificate is stored. Apple does not encrypt to the key yet.
    case standby
    /// Apple encrypts to the key. At most one key pair per merchant, purpose and algorithm is current.
    case current
    /// Replaced at Apple. Tokens that are encrypted to the key may still arrive.
    case retiring
    /// Revoked, with or without a certificate. Tokens for the key are refused. The encrypted private key is kept, so
    /// that the key can be restored.
    case revoked
    /// The private key is erased. The certificate and the history are kept.
    case destroyed

    /// Whether decryptors (processes that need tokens decrypted) may use the key pair.
    package var isActive: Bool {
        switch self {
        case .standby, .current, .retiring: true
        case .pending, .revoked, .destroyed: false
        }
    }
}
