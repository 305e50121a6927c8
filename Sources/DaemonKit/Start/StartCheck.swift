import Glibc

/// Checks for `config check` and `diagnose` what a start needs besides valid settings: free ports and sockets, disk
/// space, a database that the daemon can open, and the master key of this database. Changes nothing. A daemon may run
/// meanwhile.
struct StartCheck {
    let prepared: PreparedStart
    let masterKeyChecking: StoreCheck.MasterKeyChecking

    /// - Returns: one line about the database, for the operator. May be empty if `findings` refuse the start.
    func run(_ findings: inout PreparationFindings) async -> String {
        let settings = prepared.settings
        let daemonListeners = InstanceLock.listeners(inDirectory: settings.stateDirectory)
        ListenAddressCheck.findUsed(settings, except: daemonListeners, &findings)
        // If a daemon runs whose sockets are not known, it listens on these sockets.
        if let daemonListeners {
            prepared.sockets.checkFree(in: settings.stateDirectory, except: daemonListeners, &findings)
        }
        if case .sqlite = settings.store { StartSpaceCheck(settings: settings).run(&findings) }
        noteIfRoot(&findings)
        return await StoreCheck(settings: settings, masterKeyChecking: masterKeyChecking).run(&findings)
    }

    /// A check that root runs switches to the owner of the state directory. If root owns the directory, or if it does
    /// not exist, the check stays root. It then does not find out that a daemon of another user would refuse a
    /// directory of root.
    private func noteIfRoot(_ findings: inout PreparationFindings) {
        guard geteuid() == 0 else { return }
        findings.note(
            "the state directory \(prepared.settings.stateDirectory) belongs to root or does not exist, so this was checked for a daemon that runs as root; a daemon of another user refuses a directory of root (the package's unit corrects the owner at its start)"
        )
    }
}
