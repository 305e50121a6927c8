package import StrictJSON

/// `POST /v1/backups` and `POST /v1/backups/verification`: a file on the daemon's machine.
package struct BackupRequest: RequestBody {
    /// An absolute path.
    package let file: String

    package init(file: String) { self.file = file }

    package init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        file = try fields.requiredString("file")
        try fields.refuseUnknown()
    }
}

/// A backup, as its manifest says.
package struct BackupDocument: Codable, Hashable, Sendable {
    package let file: String
    package let createdAt: String
    package let programVersion: String
    package let schemaVersion: Int
    package let databaseBytes: Int
    /// Lower-case hexadecimal, over the database in the file.
    package let sha256: String
    package let merchants: Int
    /// By state name.
    package let keyPairs: [String: Int]
    package let certificates: Int
    package let auditHead: AuditHeadDocument?

    package init(
        file: String, createdAt: String, programVersion: String, schemaVersion: Int, databaseBytes: Int,
        sha256: String, merchants: Int, keyPairs: [String: Int], certificates: Int, auditHead: AuditHeadDocument?
    ) {
        self.file = file
        self.createdAt = createdAt
        self.programVersion = programVersion
        self.schemaVersion = schemaVersion
        self.databaseBytes = databaseBytes
        self.sha256 = sha256
        self.merchants = merchants
        self.keyPairs = keyPairs
        self.certificates = certificates
        self.auditHead = auditHead
    }
}

/// What a verification on a backup did and found.
package struct BackupVerificationDocument: Codable, Hashable, Sendable {
    package let backup: BackupDocument
    package let good: Bool
    package let keyPairsVerified: Int
    package let certificatesChecked: Int
    package let auditRecordsChecked: Int
    package let seconds: Double
    /// What is wrong; empty for a good backup. At most 100.
    package let findings: [String]

    package init(
        backup: BackupDocument, good: Bool, keyPairsVerified: Int, certificatesChecked: Int, auditRecordsChecked: Int,
        seconds: Double, findings: [String]
    ) {
        self.backup = backup
        self.good = good
        self.keyPairsVerified = keyPairsVerified
        self.certificatesChecked = certificatesChecked
        self.auditRecordsChecked = auditRecordsChecked
        self.seconds = seconds
        self.findings = findings
    }
}

/// What status says of backups.
package struct BackupCoverageDocument: Codable, Hashable, Sendable {
    /// When the newest backup was made that a verification found good.
    package let lastVerified: String?
    package let file: String?
    /// Merchants whose newest key pair no verified backup holds.
    package let merchantsWithoutBackup: Int
    /// The first hundred of them, those first whose key pair has waited longest; every other merchant's newest is in a backup.
    package let withoutBackup: [String]

    package init(lastVerified: String?, file: String?, merchantsWithoutBackup: Int, withoutBackup: [String]) {
        self.lastVerified = lastVerified
        self.file = file
        self.merchantsWithoutBackup = merchantsWithoutBackup
        self.withoutBackup = withoutBackup
    }
}
