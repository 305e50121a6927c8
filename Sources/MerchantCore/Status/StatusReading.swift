package import Vocabulary

/// What `status` reads from the store: counts and short lists. Each query uses an index, so that it reads only the rows
/// that it returns or counts.
package protocol StatusReading {
    func counts(at time: Timestamp) throws -> StoreCounts
    /// The number of key pairs whose latest-expiring certificate expires in `[begin, end)`.
    func countKeyPairsExpiring(_ filter: ActiveKeyPairFilter, from begin: Timestamp, to end: Timestamp) throws -> Int
    /// The key pairs whose latest-expiring certificate expires in `[begin, end)`, earliest expiry first.
    func keyPairsExpiring(
        _ filter: ActiveKeyPairFilter, from begin: Timestamp, to end: Timestamp, limit: Int
    ) throws -> [ExpiringKeyPair]
    /// Merchants below their target: with fewer active payment processing key pairs than their target number. Sorted by
    /// identifier, starting after `cursor`.
    func merchantsBelowTarget(afterMerchant cursor: MerchantIdentifier?, limit: Int) throws -> [MerchantBelowTarget]
    /// The number of merchants below their target whose ``MerchantBelowTarget/currentCertificateExpiry`` is in
    /// `[begin, end)`.
    func countBelowTarget(certificateExpiringFrom begin: Timestamp, to end: Timestamp) throws -> Int
    /// Merchants below their target whose ``MerchantBelowTarget/currentCertificateExpiry`` is not later than `time`,
    /// earliest expiry first.
    func merchantsBelowTarget(certificateExpiringBy time: Timestamp, limit: Int) throws -> [MerchantBelowTarget]
    /// The number of merchants that once had an active payment processing key pair and have none now. Merchants whose
    /// target is 0 do not count.
    func countWithoutActiveKeyPair() throws -> Int
    /// The merchants that ``countWithoutActiveKeyPair()`` counts, sorted by identifier.
    func merchantsWithoutActiveKeyPair(limit: Int) throws -> [MerchantBelowTarget]
    /// The number of active key pairs that have a certificate whose issuer was not verified.
    func countIssuerNotVerified() throws -> Int
    /// Active key pairs that have a certificate whose issuer was not verified, oldest first.
    func keyPairsWithIssuerNotVerified(limit: Int) throws -> [KeyPair]
    /// The number of standby key pairs whose use was reported, and to which Apple still encrypts by the rule of
    /// ``StandbyKeyUse/lastDecryption(of:use:current:currentUse:)``. Does not count the new key pairs of open rolls.
    func countStandbyKeyPairsInUse() throws -> Int
    /// The key pairs that ``countStandbyKeyPairsInUse()`` counts, oldest first.
    func standbyKeyPairsInUse(limit: Int) throws -> [KeyPair]
}

/// Selects some of the active key pairs by their state.
package enum ActiveKeyPairFilter: Hashable, Sendable, CaseIterable {
    case active
    /// Key pairs in the state `current`.
    case current
    /// Key pairs in the state `standby` or `retiring`.
    case notCurrent

    package func contains(_ state: KeyState) -> Bool {
        switch self {
        case .active: state.isActive
        case .current: state == .current
        case .notCurrent: state.isActive && state != .current
        }
    }
}

/// An active key pair, and when its latest-expiring certificate expires.
package struct ExpiringKeyPair: Hashable, Sendable {
    package let keyPair: KeyPair
    package let notAfter: Timestamp

    package init(keyPair: KeyPair, notAfter: Timestamp) {
        self.keyPair = keyPair
        self.notAfter = notAfter
    }
}

/// A merchant with fewer active payment processing key pairs than its target number.
package struct MerchantBelowTarget: Hashable, Sendable {
    package let merchantIdentifier: MerchantIdentifier
    /// How many payment processing key pairs of the merchant are active.
    package let activeKeyPairs: Int
    package let targetActiveKeyPairs: Int
    /// When the latest-expiring certificate of the current payment processing key pair expires. If there is a current
    /// key pair for each algorithm, this is the earlier of the two times. nil if no key pair is current.
    package let currentCertificateExpiry: Timestamp?
    /// Whether the merchant ever had an active payment processing key pair.
    package let hadActiveKeyPair: Bool

    package init(
        merchantIdentifier: MerchantIdentifier, activeKeyPairs: Int, targetActiveKeyPairs: Int,
        currentCertificateExpiry: Timestamp?, hadActiveKeyPair: Bool
    ) {
        self.merchantIdentifier = merchantIdentifier
        self.activeKeyPairs = activeKeyPairs
        self.targetActiveKeyPairs = targetActiveKeyPairs
        self.currentCertificateExpiry = currentCertificateExpiry
        self.hadActiveKeyPair = hadActiveKeyPair
    }

    package func severity(at now: Timestamp) -> Severity {
        TargetRules.severity(
            hasLostAllKeyPairs: hadActiveKeyPair && activeKeyPairs == 0,
            currentCertificateExpiry: currentCertificateExpiry, at: now)
    }
}
