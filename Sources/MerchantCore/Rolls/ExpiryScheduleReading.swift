package import Vocabulary

/// The port for the schedule of expiry checks: what a transaction may read of it.
package protocol ExpiryScheduleReading {
    /// Active key pairs with a certificate whose check is due at `time`, most overdue first.
    func keyPairsToWatch(at time: Timestamp, limit: Int) throws -> [ExpiringKeyPair]
    /// Whether a warning was sent for this expiry at this threshold.
    func wasWarned(of ends: Timestamp, days: Int, key hash: PublicKeyHash) throws -> Bool
    /// Active key pairs whose last certificate expires at or before `time`, earliest first.
    func keyPairsExpiring(before time: Timestamp, limit: Int) throws -> [ExpiringKeyPair]
}

/// The port for the schedule of expiry checks: what a transaction may also change.
package protocol ExpiryScheduleWriting: ExpiryScheduleReading {
    /// - Parameter time: nil if no check is needed until the key pair's state or certificates change.
    func setNextWatch(of hash: PublicKeyHash, at time: Timestamp?) throws
    /// Records that a warning was sent for this expiry at this threshold.
    func noteWarning(of ends: Timestamp, days: Int, key hash: PublicKeyHash, at time: Timestamp) throws
}
