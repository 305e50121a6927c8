import KeyCustody
import MerchantCore
import MerchantOperations
import SQLiteStore
import Vocabulary

/// Verifies a backup on a copy: opens the database as the daemon would, and unseals every key in it.
struct BackupVerification {
    let masterKeys: MasterKeys
    let clock: any WallClock

    /// - Parameters:
    ///   - path: a copy that may be changed. Opening it migrates its schema.
    ///   - accepts: whether `finish` is called even if the verification finds something.
    ///   - finish: called at the end with the copy still open, if there is no finding or `accepts` is true.
    /// - Throws: if the master key does not open the copy, or the copy cannot be opened at all.
    func run(
        on path: String, _ manifest: BackupManifest, accepts: Bool = false,
        finish: (SQLiteStore) async throws -> Void = { _ in }
    ) async throws -> BackupVerificationResult {
        let begin = ContinuousClock.now
        let copy = try SQLiteStore.open(path: path, clock: clock)
        defer { try? copy.close() }
        let custody = KeyCustody(keyring: try keyring(of: copy), cache: UnsealedKeyCache()) { _ in nil }
        var examination = BackupVerifier()
        for found in try await copy.quickCheck() + copy.manifestFindings(manifest) { examination.note(found) }
        try await examination.examine(
            BackupVerifier.Records(copy, reads: { $0 }, writes: { _ in }), with: custody)
        for found in try await copy.inconsistentContent() { examination.note(found) }
        if accepts || examination.findings.isEmpty { try await finish(copy) }
        let (seconds, attoseconds) = (ContinuousClock.now - begin).components
        return BackupVerificationResult(
            manifest: manifest, keyPairsVerified: examination.keyPairsVerified,
            certificatesChecked: examination.certificatesChecked,
            auditRecordsChecked: examination.auditRecordsChecked,
            seconds: Double(seconds) + (Double(attoseconds) / 1e15).rounded() / 1e3, findings: examination.findings)
    }

    private func keyring(of copy: SQLiteStore) throws -> Keyring {
        do { return try masterKeys.keyring(opening: copy, at: clock.now) } catch let error as MerchantError
            where error.code == .masterKeyConflict
        {
            throw MerchantError(
                .backupFailed,
                "the backup is sealed with another master key, perhaps one from before a rotation: \(error.detail); name the file of the right one with 'backup verify --offline --master-key-file' or 'backup restore --master-key-file'"
            )
        }
    }

    /// Verifies a temporary copy of the backup, and removes the copy. Does not change the file.
    func run(onCopyOf file: String) async throws -> BackupVerificationResult {
        let backup = try BackupFile(reading: file)
        let scratch = try ScratchDirectory(near: file, bytes: backup.manifest.databaseBytes)
        defer { scratch.remove() }
        let copy = "\(scratch.path)/copy.sqlite"
        try backup.copyDatabase(to: copy)
        return try await run(on: copy, backup.manifest)
    }
}
