/// Checks for `config check` and `diagnose` what a start needs besides valid settings: free ports and sockets, a
/// database that the daemon can open, and the master key of this database. Changes nothing. A daemon may run meanwhile.
struct StartCheck {
    let prepared: PreparedStart
    let masterKeyChecking: StoreCheck.MasterKeyChecking

    /// - Returns: one line about the database, for the operator; empty if a start would be refused because of it.
    func run(_ findings: inout PreparationFindings) async -> String {
        let settings = prepared.settings
        let daemonListeners = InstanceLock.listeners(inDirectory: settings.stateDirectory)
        ListenAddressCheck.findUsed(settings, except: daemonListeners, &findings)
        // If a daemon runs whose sockets are not known, it listens on these sockets.
        if let daemonListeners {
            prepared.sockets.checkFree(in: settings.stateDirectory, except: daemonListeners, &findings)
        }
        return await StoreCheck(settings: settings, masterKeyChecking: masterKeyChecking).run(&findings)
    }
}
