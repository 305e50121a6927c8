package import MerchantCore
package import Vocabulary

extension BackupCoverage {
    /// The finding about keys that are in no verified backup.
    ///
    /// - Returns: nil if there is nothing to report.
    package func finding(by policy: BackupPolicy, at now: Timestamp) -> StatusFinding? {
        guard let severity = policy.severity(of: self, at: now), let since = notBackedUpSince else { return nil }
        let state =
            newestVerifiedCreatedAt.map { "the newest verified backup, of \($0), lacks keys with a certificate" }
            ?? verifiedInFuture.map {
                "the newest verified backup has a time in the future, \($0), and lacks keys with a certificate"
            } ?? "there is no verified backup, but there are keys with a certificate"
        return StatusFinding(
            severity: severity, code: .backupMissing,
            detail:
                "\(state), the oldest since \(since): if the database is lost, tokens for these keys can never be decrypted. Set 'backup.directory', or run 'backup create' and 'backup verify'"
        )
    }
}
