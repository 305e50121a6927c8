/// Where a key pair stands: `pending → standby → current → retiring → revoked → destroyed`.
package enum KeyState: String, Sendable, CaseIterable, Codable {
    /// Made, CSR out, no certificate yet.
    case pending
    /// Certificate stored; Apple does not encrypt to it yet.
    case standby
    /// Apple encrypts to it; at most one per merchant, purpose and algorithm.
    case current
    /// Superseded at Apple; tokens made with it may still arrive.
    case retiring
    /// Withdrawn, or abandoned before it had a certificate; the sealed private key is kept.
    case revoked
    /// The private key is gone; certificate and history stay.
    case destroyed

    /// Whether a decryptor may use the key pair.
    package var isActive: Bool {
        switch self {
        case .standby, .current, .retiring: true
        case .pending, .revoked, .destroyed: false
        }
    }
}
