package import MerchantCore
import Synchronization
import Vocabulary

/// Backups in memory, which have a manifest and no content.
package final class MemoryBackups: BackupManaging {
    private let clock: any WallClock
    private let manifests = Mutex<[String: BackupManifest]>([:])
    private let faultyPaths = Mutex<Set<String>>([])

    package init(clock: any WallClock) { self.clock = clock }

    /// Makes every later verification of this backup find a fault.
    package func damage(_ path: String) { faultyPaths.withLock { _ = $0.insert(path) } }

    package func createBackup(at path: String) async throws -> BackupManifest {
        let manifest = BackupManifest(
            createdAt: clock.now, programVersion: "test", schemaVersion: 1, databaseBytes: 0,
            sha256: PublicKeyHash(of: Array(path.utf8)).bytes, merchants: 0, keyPairs: [:], certificates: 0,
            auditHead: nil, newestKeyPairId: 0)
        return try manifests.withLock { manifests in
            guard manifests[path] == nil else { throw MerchantError(.backupFailed, "\(path) exists already") }
            manifests[path] = manifest
            return manifest
        }
    }

    package func verify(_ path: String, renamingNotGoodTo newPath: String?) async throws -> BackupVerificationResult {
        guard let manifest = manifests.withLock({ $0[path] }) else {
            throw MerchantError(.backupFailed, "\(path) does not exist")
        }
        return BackupVerificationResult(
            manifest: manifest, keyPairsVerified: 0, certificatesChecked: 0, auditRecordsChecked: 0, seconds: 0,
            findings: faultyPaths.withLock { $0.contains(path) } ? ["a key cannot be unsealed"] : [])
    }

    package func discard(_ path: String) async { manifests.withLock { $0[path] = nil } }
}
