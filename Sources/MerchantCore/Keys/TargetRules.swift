package import Vocabulary

/// How severe it is that a merchant has fewer active key pairs than its target number. Events and `status` use the same
/// rule.
package enum TargetRules {
    /// How long before the expiry of the current certificate the severity becomes `warning`.
    package static let warningBefore = Duration.seconds(60 * 86_400)
    /// How long before the expiry of the current certificate the severity becomes `critical`.
    package static let criticalBefore = Duration.seconds(7 * 86_400)

    /// - Parameters:
    ///   - hasLostAllKeyPairs: whether the merchant had an active key pair and has none now, so that its payments are
    ///     refused.
    ///   - expiry: ``MerchantBelowTarget/currentCertificateExpiry``; nil if no key pair is current.
    package static func severity(
        hasLostAllKeyPairs: Bool, currentCertificateExpiry expiry: Timestamp?, at now: Timestamp
    ) -> Severity {
        if hasLostAllKeyPairs { return .critical }
        guard let expiry, expiry <= now.adding(warningBefore) else { return .notice }
        return expiry <= now.adding(criticalBefore) ? .critical : .warning
    }
}
