package import Vocabulary

/// The severity of having fewer active key pairs than the merchant's target. The same rule serves events and `status`.
package enum TargetRules {
    /// How long before the end of the current certificate it is a warning.
    package static let warningBefore = Duration.seconds(60 * 86_400)
    /// How long before the end of the current certificate it is critical.
    package static let criticalBefore = Duration.seconds(7 * 86_400)

    /// - Parameters:
    ///   - lostAll: whether the merchant had an active key pair and has none: its payments are refused.
    ///   - ends: the end of the current key pair's certificate; nil where no key pair is current.
    package static func severity(lostAll: Bool, currentEnds ends: Timestamp?, at now: Timestamp) -> Severity {
        if lostAll { return .critical }
        guard let ends, ends <= now.adding(warningBefore) else { return .notice }
        return ends <= now.adding(criticalBefore) ? .critical : .warning
    }
}
