import Glibc
import MerchantCore
import MerchantOperations
import SQLiteStore
import Synchronization
import Vocabulary

/// Creates and verifies backups of the running daemon's store, one at a time.
final class BackupService: BackupManaging {
    private let source: any BackupSource
    private let drafts: BackupDrafts
    private let masterKey: MasterKeySettings
    private let clock: any WallClock
    private let isBusy = Atomic(false)

    init(source: any BackupSource, drafts: BackupDrafts, masterKey: MasterKeySettings, clock: any WallClock) {
        self.source = source
        self.drafts = drafts
        self.clock = clock
        self.masterKey = masterKey
    }

    func createBackup(at path: String) async throws -> BackupManifest {
        try await oneAtATime {
            let draft = BackupFile.draft(of: path)
            await drafts.remember(draft)
            do {
                let manifest = try await BackupFile.create(
                    at: path, draft: draft, programVersion: Program.version, at: clock.now
                ) { try await source.writeBackup(to: draft, named: path) }
                await drafts.forget(draft)
                return manifest
            } catch {
                await drafts.forget(draft)
                throw error
            }
        }
    }

    func verify(_ path: String) async throws -> BackupVerificationResult {
        try await oneAtATime {
            try await BackupVerification(masterKeys: MasterKeys(masterKey), clock: clock).run(onCopyOf: path)
        }
    }

    func discard(_ path: String) async { await WorkThreads.blocking.run { _ = unlink(path) } }

    func rename(_ path: String, to newPath: String) async throws {
        try await WorkThreads.blocking.run {
            guard Glibc.rename(path, newPath) == 0 else {
                throw MerchantError(
                    .backupFailed,
                    "the backup \(path) is not good and cannot be renamed to \(newPath): \(String(cString: strerror(errno))); remove it, so that it is not used as a backup"
                )
            }
        }
    }

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
