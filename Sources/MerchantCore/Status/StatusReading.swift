package import Vocabulary

/// The port for `status`: numbers and short lists. Each uses an index, so that a list reads only its own rows.
package protocol StatusReading {
    func counts(at time: Timestamp) throws -> StoreCounts
    /// The number of key pairs whose last certificate expires in `[begin, end)`.
    func countEnding(_ keyPairs: ExpiringKeyPairs, from begin: Timestamp, to end: Timestamp) throws -> Int
    /// The key pairs whose last certificate expires in `[begin, end)`, earliest first.
    func keyPairsExpiring(
        _ keyPairs: ExpiringKeyPairs, from begin: Timestamp, to end: Timestamp, limit: Int
    ) throws -> [ExpiringKeyPair]
    /// Merchants with fewer active payment processing key pairs than their target, by identifier, starting after `cursor`.
    func merchantsBelowTarget(after cursor: MerchantIdentifier?, limit: Int) throws -> [MerchantBelowTarget]
    /// The number of merchants below their target whose current certificate expires in `[begin, end)`.
    func countBelowTarget(endingFrom begin: Timestamp, to end: Timestamp) throws -> Int
    /// Merchants below their target whose current certificate expires at or before `time`, earliest first.
    func merchantsBelowTarget(endingBefore time: Timestamp, limit: Int) throws -> [MerchantBelowTarget]
    /// The number of merchants that once had an active payment processing key pair and have none now.
    func countWithoutActiveKeyPair() throws -> Int
    /// Those merchants, by identifier.
    func merchantsWithoutActiveKeyPair(limit: Int) throws -> [MerchantBelowTarget]
}

/// A subset of the active key pairs with a certificate.
package enum ExpiringKeyPairs: Hashable, Sendable, CaseIterable {
    case active
    /// The key pairs that Apple encrypts to.
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
