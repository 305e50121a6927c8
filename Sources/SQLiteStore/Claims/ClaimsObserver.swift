/// Is notified of new claims of payment tokens.
package protocol ClaimsObserver: Sendable {
    /// Called after a commit of new claims, before the callers get their results. Must return soon.
    ///
    /// - Parameter newest: the id of the newest claim.
    func claimsGrew(to newest: Int64)
}
