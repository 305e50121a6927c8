package import MerchantCore
import Vocabulary
package import WireAPI

extension BackupDocument {
    package init(_ manifest: BackupManifest, file: String) {
        self.init(
            file, createdAt: manifest.createdAt, by: manifest.programVersion, sha256: Hex.encode(manifest.sha256))
        schemaVersion = manifest.schemaVersion
        databaseBytes = manifest.databaseBytes
        merchants = manifest.merchants
        keyPairs = manifest.keyPairs
        certificates = manifest.certificates
        auditHead = manifest.auditHead.map(AuditHeadDocument.init)
    }
}

extension BackupVerificationDocument {
    package init(_ verification: BackupVerificationResult, file: String) {
        let findings = ([verification.renameFailure].compactMap(\.self) + verification.findings).prefix(100)
        self.init(BackupDocument(verification.manifest, file: file), findings: Array(findings))
        keyPairsVerified = verification.keyPairsVerified
        certificatesChecked = verification.certificatesChecked
        auditRecordsChecked = verification.auditRecordsChecked
        seconds = verification.seconds
    }
}

extension BackupCoverageDocument {
    init(_ coverage: BackupCoverage) {
        self.init()
        lastVerified = coverage.newestVerifiedCreatedAt
        file = coverage.newestVerifiedPath
        verifiedInFuture = coverage.verifiedInFuture
        merchantsWithoutBackup = coverage.merchantsAwaitingBackup
        withoutBackup = coverage.firstMerchantsAwaitingBackup
    }
}
