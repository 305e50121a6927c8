package import Vocabulary

/// Reads the schedule of expiry checks in a transaction of the store.
package protocol ExpiryScheduleReading {
    /// Active key pairs with a certificate whose expiry check is due at `time`, the most overdue first.
    func keyPairsDueForExpiryCheck(at time: Timestamp, limit: Int) throws -> [ExpiringKeyPair]
    /// Whether a warning was already sent that a certificate of the key pair expires at `expiry`.
    ///
    /// - Parameter days: the warning's threshold in days before the expiry, one of ``ExpiryWarning/thresholds``.
    func wasExpiryWarningSent(of expiry: Timestamp, days: Int, key hash: PublicKeyHash) throws -> Bool
    /// Active key pairs whose latest-expiring certificate expires at or before `time`, earliest expiry first.
    func keyPairsExpiring(by time: Timestamp, limit: Int) throws -> [ExpiringKeyPair]
}

/// Reads and changes the schedule of expiry checks in a transaction of the store.
package protocol ExpiryScheduleWriting: ExpiryScheduleReading {
    /// Sets when the expiry of the key pair's certificates must be checked next.
    ///
    /// - Parameter time: nil if no check is needed until the key pair's state or certificates change.
    func setNextExpiryCheck(of hash: PublicKeyHash, at time: Timestamp?) throws
    /// Records that the warning was sent; see ``ExpiryScheduleReading/wasExpiryWarningSent(of:days:key:)``.
    func recordExpiryWarning(of expiry: Timestamp, days: Int, key hash: PublicKeyHash, at time: Timestamp) throws
}
