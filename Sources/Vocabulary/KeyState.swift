/// The state of a key pair: `pending → standby → current → retiring → revoked → destroyed`.
package enum KeyState: String, NamedValue {
    /// Generated; the CSR is issued; no certificate is stored yet.
    case pending
    /// Certificate stored; Apple does not encrypt to it yet.
    case standby
    /// Apple encrypts to it; at most one per merchant, purpose and algorithm.
    case current
    /// Superseded at Apple; tokens encrypted to it may still arrive.
    case retiring
    /// Revoked, or abandoned before it had a certificate; the sealed private key is kept.
    case revoked
    /// The private key is erased; certificate and history are kept.
    case destroyed

    /// Whether a decryptor may use the key pair.
    package var isActive: Bool {
        switch self {
        case .standby, .current, .retiring: true
        case .pending, .revoked, .destroyed: false
        }
    }
}
