package import MerchantCore
import Vocabulary
package import WireAPI

extension BackupDocument {
    package init(_ manifest: BackupManifest, file: String) {
        self.init(
            file: file, createdAt: manifest.createdAt.rfc3339, programVersion: manifest.programVersion,
            schemaVersion: manifest.schemaVersion, databaseBytes: manifest.databaseBytes,
            sha256: Hex.encode(manifest.sha256), merchants: manifest.merchants,
            keyPairs: Dictionary(uniqueKeysWithValues: manifest.keyPairs.map { ($0.key.rawValue, $0.value) }),
            certificates: manifest.certificates, auditHead: manifest.auditHead.map(AuditHeadDocument.init))
    }
}

extension BackupVerificationDocument {
    package init(_ verification: BackupVerificationResult, file: String) {
        self.init(
            backup: BackupDocument(verification.manifest, file: file), good: verification.findings.isEmpty,
            keyPairsVerified: verification.keyPairsVerified, certificatesChecked: verification.certificatesChecked,
            auditRecordsChecked: verification.auditRecordsChecked, seconds: verification.seconds,
            findings: verification.findings)
    }
}
