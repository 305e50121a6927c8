import Glibc
import MerchantCore
import MerchantOperations
import SQLiteStore
import Synchronization
import Vocabulary

/// Creates and verifies backups of the running daemon's database, one at a time.
final class BackupService: BackupManaging {
    private let store: SQLiteStore
    private let masterKey: MasterKeySettings
    private let clock: any WallClock
    private let isBusy = Atomic(false)

    init(store: SQLiteStore, masterKey: MasterKeySettings, clock: any WallClock) {
        self.store = store
        self.clock = clock
        self.masterKey = masterKey
    }

    func createBackup(at path: String) async throws -> BackupManifest {
        try await oneAtATime {
            try await store.backUp(to: path, programVersion: Program.version, at: clock.now)
        }
    }

    func verify(_ path: String) async throws -> BackupVerificationResult {
        try await oneAtATime {
            try await BackupVerification(masterKeys: MasterKeys(masterKey), clock: clock).run(onCopyOf: path)
        }
    }

    func discard(_ path: String) async { await WorkThreads.blocking.run { _ = unlink(path) } }

    /// Runs an operation on threads that may block, because the disk of a backup may hang.
    ///
    /// - Throws: `overloaded` if another operation is in progress.
    private func oneAtATime<Result>(_ work: () async throws -> Result) async throws -> Result {
        guard isBusy.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged else {
            throw MerchantError(.overloaded, "another backup is being created or verified; retry when it is finished")
        }
        defer { isBusy.store(false, ordering: .releasing) }
        return try await WorkThreads.blocking.run(work)
    }
}
