/// The place of a certificate in the chain.
public enum CertificateRole: String, Sendable, CaseIterable, CustomStringConvertible {
    /// The certificate with the public key to which the card data is encrypted.
    case leaf
    /// The certificate of the certificate authority that issued the leaf.
    case subCA
    /// The trusted certificate of the certificate authority that issued the sub-CA. The app does not send it.
    case root

    /// The name in messages.
    public var description: String {
        switch self {
        case .leaf: "leaf"
        case .subCA: "sub-CA"
        case .root: "root"
        }
    }
}
