package import Vocabulary

/// What starting a roll would do now.
package enum RollPreview: Hashable, Sendable {
    /// A roll is open already. A request to start a roll returns this roll.
    case open
    /// A key pair with its CSR is generated.
    case generates
    /// The roll begins with this key pair, which waits for its certificate.
    case pending(PublicKeyHash)
    /// The roll begins with this key pair, whose certificate is stored. The next step is the activation at Apple.
    case certified(PublicKeyHash)
}
