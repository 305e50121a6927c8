package import Vocabulary

/// Reads notifications of merchant tokens in a transaction of the store.
package protocol TokenNotificationReading {
    func tokenNotification(
        _ event: MerchantTokenEventIdentifier, of merchant: MerchantIdentifier
    ) throws -> TokenNotification?
    /// The notifications whose events may be fetched now, at most one of each lane. A lane is the queue of one
    /// merchant's notifications from one address, so that a flood from one address does not delay other addresses.
    ///
    /// The events of a lane are fetched in the order of arrival: while the first waiting notification is not due, the
    /// lane is blocked. A notification that fails delays its lane for at most ``TokenNotification/longestLaneDelay``
    /// after its first failure. After this delay, the later notifications of the lane no longer wait for it; the failed
    /// notification itself is tried again when it is due.
    ///
    /// The lanes take turns. Lanes whose first waiting notification has not failed come first, sorted by the time of
    /// the last attempt in the lane, or, if there was none, by the arrival of the notification; oldest first. The other
    /// lanes follow by due time. A notification that has not failed is due unless its lane is blocked, so that a clock
    /// that was set back does not delay it.
    ///
    /// - Parameter merchants: merchants whose notifications are left out, and do not count towards the limit.
    func nextTokenNotifications(
        dueAt time: Timestamp, excluding merchants: Set<MerchantIdentifier>, limit: Int
    ) throws -> [TokenNotification]
    /// How many notifications wait, and when the oldest of them arrived.
    func waitingTokenNotifications() throws -> TokenNotificationQueue
    /// How many notifications from this address wait.
    func waitingTokenNotifications(from source: String) throws -> Int
    /// The merchant of a secret path; nil if the secret is unknown.
    func tokenNotificationPath(_ secret: String) throws -> TokenNotificationPath?
    /// The merchant's paths, newest first.
    func tokenNotificationPaths(of merchant: MerchantIdentifier) throws -> [TokenNotificationPath]
}

/// Reads and changes notifications of merchant tokens in a transaction of the store.
package protocol TokenNotificationWriting: TokenNotificationReading {
    /// Stores a notification, unless one with the same event and merchant is stored.
    ///
    /// - Returns: whether the notification is new.
    /// - Throws: `merchantNotFound`.
    @discardableResult
    func insertTokenNotification(
        _ event: MerchantTokenEventIdentifier, of merchant: MerchantIdentifier, from source: String, at now: Timestamp
    ) throws -> Bool
    /// Stores state, failures, due time and finding of a waiting notification after an attempt to fetch its event. A
    /// notification that no longer waits cannot be changed.
    ///
    /// - Parameter now: the time of the attempt.
    func update(_ notification: TokenNotification, at now: Timestamp) throws
    /// Removes notifications in one of these states that arrived before `time`. Never removes a waiting notification.
    ///
    /// - Returns: the number of removed notifications, at most `limit`.
    func removeTokenNotifications(
        in states: Set<TokenNotification.State>, receivedBefore time: Timestamp, limit: Int
    ) throws -> Int
    /// - Throws: `merchantNotFound`.
    func insert(_ path: TokenNotificationPath) throws
}

/// The notifications that wait.
package struct TokenNotificationQueue: Hashable, Sendable {
    /// How many notifications wait.
    package let waiting: Int
    /// When the oldest of them arrived; nil if none waits.
    package let oldest: Timestamp?

    package init(waiting: Int, oldest: Timestamp?) {
        self.waiting = waiting
        self.oldest = oldest
    }
}
