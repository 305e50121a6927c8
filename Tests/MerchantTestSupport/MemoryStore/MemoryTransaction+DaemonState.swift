package import MerchantCore
package import Vocabulary

struct MemoryBackup: Sendable {
    var manifest: BackupManifest
    var path: String
    var verifiedAt: Timestamp?
    /// The ids of key pairs are their positions among the rows, starting at 1.
    var newestKeyPairId: Int { manifest.newestKeyPairId }
}

extension MemoryTransaction {
    package func daemonValue(_ name: String) -> String? { state.daemonValues[name] }

    package func setDaemonValue(_ name: String, _ value: String) { state.daemonValues[name] = value }

    package func record(_ manifest: BackupManifest, at path: String, verifiedAt: Timestamp?) {
        state.backups[manifest.sha256] = MemoryBackup(
            manifest: state.backups[manifest.sha256]?.manifest ?? manifest, path: path, verifiedAt: verifiedAt)
    }

    private var newestVerified: MemoryBackup? { newestVerified(where: { _ in true }) }

    /// - Parameter isCounted: whether a backup that was created at this time counts.
    private func newestVerified(where isCounted: (Timestamp) -> Bool) -> MemoryBackup? {
        state.backups.values.filter { $0.verifiedAt != nil && isCounted($0.manifest.createdAt) }.max {
            ($0.newestKeyPairId, $0.manifest.createdAt) < ($1.newestKeyPairId, $1.manifest.createdAt)
        }
    }

    private func newestKeyPairId(of merchant: MerchantIdentifier) -> Int? {
        state.rows.lastIndex { $0.keyPair.merchantIdentifier == merchant }.map { $0 + 1 }
    }

    package func backupCoverage(at now: Timestamp) -> BackupCoverage {
        var coverage = BackupCoverage()
        let newest = newestVerified(where: { $0 <= now })
        coverage.newestVerifiedCreatedAt = newest?.manifest.createdAt
        coverage.newestVerifiedPath = newest?.path
        coverage.verifiedInFuture = state.backups.values
            .filter { $0.verifiedAt != nil && $0.manifest.createdAt > now }.map(\.manifest.createdAt).max()
        let covered = newestVerified?.newestKeyPairId ?? 0
        let missing = state.merchants.keys.compactMap { merchant in
            newestKeyPairId(of: merchant).map { (merchant, $0) }
        }.filter { $0.1 > covered }.sorted { $0.1 < $1.1 }
        coverage.merchantsAwaitingBackup = missing.count
        coverage.firstMerchantsAwaitingBackup = missing.prefix(BackupCoverage.maximumNamed).map(\.0)
        coverage.notBackedUpSince = state.rows.dropFirst(covered)
            .first { !$0.certificates.isEmpty && $0.keyPair.state != .destroyed }?
            .certificates.map(\.storedAt).min()
        return coverage
    }

    package func keyPairSummaries(of merchants: [MerchantIdentifier]) -> [MerchantIdentifier: KeyPairSummary] {
        entries(merchants) { merchant in
            guard state.merchants[merchant] != nil else { return nil }
            let active = keyPairs(of: merchant).count { $0.purpose == .paymentProcessing && $0.state.isActive }
            return KeyPairSummary(
                active: active,
                isNewestBackedUp: newestKeyPairId(of: merchant).map { $0 <= newestVerified?.newestKeyPairId ?? 0 })
        }
    }
}
