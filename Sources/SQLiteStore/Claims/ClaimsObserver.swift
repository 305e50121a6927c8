/// Is notified of new claims of payment tokens, but not of nonces.
package protocol ClaimsObserver: Sendable {
    /// Called after a commit of new claims, before the callers get their results. Must return soon.
    ///
    /// - Parameters:
    ///   - newest: the newest claim.
    ///   - generation: identifies the write-ahead log that contains the claim, until SQLite overwrites the log from
    ///     its beginning; empty if there is no log.
    func claimsGrew(to newest: ClaimMark, inLog generation: String)
}
