import KeyCustody
import Logging
import MerchantCore

extension DaemonStart {
    /// Creates the master key file for a new database. If a database exists but its master key file is missing,
    /// ``StartDecision`` has already refused the start.
    func createMasterKey(_ masterKey: StartObservation.MasterKey) throws {
        guard case .file(let path, exists: false) = masterKey else { return }
        _ = try MasterKey.create(at: path)
        logger.notice("created a new master key: save a copy elsewhere now", metadata: ["path": "\(path)"])
        if settings.store.postgresql == nil, path.hasPrefix("\(settings.stateDirectory)/") {
            logger.warning(
                "the master key is in the same directory as the database that it protects: a copy of the directory contains both; set 'master-key.file' to a path outside this directory",
                metadata: ["path": "\(path)"])
        }
    }

    func openKeyring(_ observedStore: ObservedStore, _ observation: StartObservation) throws -> MasterKeys.Opened {
        let opened: MasterKeys.Opened
        do {
            opened = try MasterKeys(settings.masterKey).open(observedStore.store, at: observedStore.clock.now)
        } catch let error as MerchantError where error.code == .masterKeyConflict {
            // Decides again with this finding, so that the error is a StartRefusal, which names the finding's code.
            // All losses were accepted before, so only this finding can refuse the start here.
            var observation = observation
            observation.masterKey = .rejected(error.detail)
            _ = try StartDecision(on: observation, acceptsOlderDatabase: true).findingsUnlessRefused()
            throw error
        }
        opened.keyring.warnUnlessLocked(logger)
        return opened
    }
}
