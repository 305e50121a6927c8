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

    func verify(_ path: String, renamingNotGoodTo newPath: String?) async throws -> BackupVerificationResult {
        try await oneAtATime {
            let file = FileStatus(of: path)
            var result = try await BackupVerification(masterKeys: MasterKeys(masterKey), clock: clock)
                .run(onCopyOf: path)
            guard let newPath, !result.findings.isEmpty else { return result }
            do {
                try Self.rename(path, verifiedAs: file, to: newPath)
                result.newPath = newPath
            } catch { result.renameFailure = PreparationFindings.texts(of: error).joined(separator: "; ") }
            return result
        }
    }

    func discard(_ path: String) async { await WorkThreads.blocking.run { _ = unlink(path) } }

    /// - Throws: ``SettingsError`` if the file cannot be renamed.
    private static func rename(_ path: String, verifiedAs verified: FileStatus?, to newPath: String) throws {
        func failure(_ reason: String) -> SettingsError {
            SettingsError(
                "\(path) cannot be renamed to \(newPath): \(reason); remove or rename the file, so that it is not used as a backup"
            )
        }
        guard let verified, verified.kind == .regular, let found = FileStatus(of: path), found.isSameFile(as: verified)
        else { throw failure("it is not a regular file, or was replaced during the verification") }
        guard Glibc.rename(path, newPath) == 0 else { throw failure(PathAccess.lastError) }
        try StableStorage.sync(PathAccess.directory(of: newPath))
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
