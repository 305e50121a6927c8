import KeyCustody
import MerchantCore
import MerchantOperations
import SQLiteStore
import Vocabulary

/// Verifies a backup on a copy of its database: opens the copy as the daemon would, checks its content, and unseals
/// every private key in it.
struct BackupVerification {
    let masterKeys: MasterKeys
    let clock: any WallClock

    /// - Parameters:
    ///   - path: the copy, which may be changed: opening the copy migrates its schema.
    ///   - acceptsFindings: whether `useCopy` is called even if the backup has a fault (a finding).
    ///   - useCopy: called with the verified copy before it is closed, unless a finding prevents that. Here a restore
    ///     prepares the copy for its use as the daemon's database.
    /// - Throws: `MerchantError` if the copy cannot be opened, or no master key opens its data keys; also what
    ///   `useCopy` throws.
    func run(
        on path: String, _ manifest: BackupManifest, acceptsFindings: Bool = false,
        useCopy: (SQLiteStore) async throws -> Void = { _ in }
    ) async throws -> BackupVerificationResult {
        let begin = ContinuousClock.now
        let copy = try SQLiteStore.open(path: path, clock: clock)
        defer { try? copy.close() }
        // Unseals the private keys. The closure, which would read a key pair from a store, is never needed, because
        // the content verifier passes each key pair itself.
        let custody = KeyCustody(keyring: try keyring(of: copy), cache: UnsealedKeyCache()) { _ in nil }
        var verifier = BackupContentVerifier()
        for found in try await copy.quickCheck() + copy.manifestFindings(manifest) { verifier.note(found) }
        // Lets the content verifier read everything in the copy, and write nothing.
        let records = BackupContentVerifier.Records(copy, reads: { $0 }, writes: { _ in })
        try await verifier.examine(records, with: custody)
        for found in try await copy.inconsistentContent() { verifier.note(found) }
        if acceptsFindings || verifier.findings.isEmpty { try await useCopy(copy) }
        let (seconds, attoseconds) = (ContinuousClock.now - begin).components
        return BackupVerificationResult(
            manifest: manifest, keyPairsVerified: verifier.keyPairsVerified,
            certificatesChecked: verifier.certificatesChecked,
            auditRecordsChecked: verifier.auditRecordsChecked,
            seconds: Double(seconds) + (Double(attoseconds) / 1e15).rounded() / 1e3, findings: verifier.findings)
    }

    private func keyring(of copy: SQLiteStore) throws -> Keyring {
        do { return try masterKeys.keyring(opening: copy, at: clock.now) } catch let error as MerchantError
            where error.code == .masterKeyConflict
        {
            throw MerchantError(
                .backupFailed,
                "the backup is sealed with another master key, perhaps the one that was in use before a rotation: \(error.detail); pass the file of the right key to 'backup verify --offline' or 'backup restore' with --master-key-file"
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
