package import Vocabulary

/// Numbers and short lists for `status`. An index answers each: a number reads no rows, a list only those that it returns.
package protocol StatusReading {
    /// How many key pairs' certificates end in `[begin, end)`.
    func countEnding(_ keyPairs: ExpiringKeyPairs, from begin: Timestamp, to end: Timestamp) throws -> Int
    /// The key pairs whose certificates end in `[begin, end)`, soonest first.
    func keyPairsExpiring(
        _ keyPairs: ExpiringKeyPairs, from begin: Timestamp, to end: Timestamp, limit: Int
    ) throws -> [ExpiringKeyPair]
    /// How many merchants below their target have a current certificate that ends in `[begin, end)`.
    func countBelowTarget(endingFrom begin: Timestamp, to end: Timestamp) throws -> Int
    /// Merchants below their target whose current certificate ends at or before `moment`, soonest first.
    func merchantsBelowTarget(endingBefore moment: Timestamp, limit: Int) throws -> [MerchantBelowTarget]
    /// How many merchants had an active payment processing key pair and have none.
    func countWithoutActiveKeyPair() throws -> Int
    /// Those merchants, by identifier.
    func merchantsWithoutActiveKeyPair(limit: Int) throws -> [MerchantBelowTarget]
}

/// Which active key pairs with a certificate are asked for.
package enum ExpiringKeyPairs: Hashable, Sendable, CaseIterable {
    case active
    /// Those that Apple encrypts to.
    case current
    /// `standby` and `retiring`.
    case notCurrent

    package func contains(_ state: KeyState) -> Bool {
        switch self {
        case .active: state.isActive
        case .current: state == .current
        case .notCurrent: state.isActive && state != .current
        }
    }
}

package struct ExpiringKeyPair: Hashable, Sendable {
    package let keyPair: KeyPair
    package let notAfter: Timestamp

    package init(keyPair: KeyPair, notAfter: Timestamp) {
        self.keyPair = keyPair
        self.notAfter = notAfter
    }
}

/// A merchant with fewer active payment processing key pairs than its target.
package struct MerchantBelowTarget: Hashable, Sendable {
    package let merchantIdentifier: MerchantIdentifier
    package let activeKeyPairs: Int
    package let targetActiveKeyPairs: Int
    /// The end of the current key pair's certificate, if there is one.
    package let currentEnds: Timestamp?
    /// Whether it ever had an active key pair.
    package let hadActiveKeyPair: Bool

    package init(
        merchantIdentifier: MerchantIdentifier, activeKeyPairs: Int, targetActiveKeyPairs: Int,
        currentEnds: Timestamp?, hadActiveKeyPair: Bool
    ) {
        self.merchantIdentifier = merchantIdentifier
        self.activeKeyPairs = activeKeyPairs
        self.targetActiveKeyPairs = targetActiveKeyPairs
        self.currentEnds = currentEnds
        self.hadActiveKeyPair = hadActiveKeyPair
    }

    package func severity(at now: Timestamp) -> Severity {
        TargetRules.severity(lostAll: hadActiveKeyPair && activeKeyPairs == 0, currentEnds: currentEnds, at: now)
    }
}
