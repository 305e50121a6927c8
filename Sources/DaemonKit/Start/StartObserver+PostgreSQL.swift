import MerchantCore

extension StartObserver {
    /// Observes what can be known before the daemon is connected.
    ///
    /// - Parameters:
    ///   - name: the database and its server, for messages.
    ///   - lockFile: what the last daemon wrote into the lock file. The observation copies only the accepted losses
    ///     that the audit does not contain yet. The caller compares the last audit record in the lock file with the
    ///     database.
    func observeServer(named name: String, _ lockFile: LockFileContent) -> StartObservation {
        var found = StartObservation(
            databasePath: name, lockPath: settings.lockPath, claimsPath: name, masterKey: masterKey)
        found.server = StartObservation.Server()
        found.lockFile.lossesNotInAudit = lockFile.lossesNotInAudit
        return found
    }
}
