package import Vocabulary

/// Reads the schedule of expiry checks in a transaction of the store.
package protocol ExpiryScheduleReading {
    /// Active key pairs with a certificate whose expiry check is due at `time`, the most overdue first.
    func keyPairsToWatch(at time: Timestamp, limit: Int) throws -> [ExpiringKeyPair]
    /// Whether a warning was sent for this expiry at this threshold.
    func wasWarned(of ends: Timestamp, days: Int, key hash: PublicKeyHash) throws -> Bool
    /// Active key pairs whose latest-expiring certificate expires at or before `time`, earliest expiry first.
    func keyPairsExpiring(before time: Timestamp, limit: Int) throws -> [ExpiringKeyPair]
}

/// Reads and changes the schedule of expiry checks in a transaction of the store.
package protocol ExpiryScheduleWriting: ExpiryScheduleReading {
    /// - Parameter time: nil if no check is needed until the key pair's state or certificates change.
    func setNextWatch(of hash: PublicKeyHash, at time: Timestamp?) throws
    /// Records that a warning was sent for this expiry at this threshold.
    func noteWarning(of ends: Timestamp, days: Int, key hash: PublicKeyHash, at time: Timestamp) throws
}
