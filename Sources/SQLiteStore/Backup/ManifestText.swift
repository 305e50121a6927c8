import FoundationEssentials
import MerchantCore
import Vocabulary

/// The last line of a backup file: the manifest as JSON.
struct ManifestText: Codable {
    /// The value of the field `kind` in this version of the format.
    static let kind = "merchantkeyd backup 1"

    let kind: String
    let createdAt: String
    let programVersion: String
    let schemaVersion: Int
    let databaseBytes: Int
    let sha256: String
    let merchants: Int
    let keyPairs: [String: Int]
    let certificates: Int
    let auditHead: String?
    let newestKeyPairId: Int

    init(_ manifest: BackupManifest) {
        kind = Self.kind
        createdAt = manifest.createdAt.rfc3339
        programVersion = manifest.programVersion
        schemaVersion = manifest.schemaVersion
        databaseBytes = manifest.databaseBytes
        sha256 = Hex.encode(manifest.sha256)
        merchants = manifest.merchants
        keyPairs = Dictionary(uniqueKeysWithValues: manifest.keyPairs.map { ($0.key.rawValue, $0.value) })
        certificates = manifest.certificates
        auditHead = manifest.auditHead?.description
        newestKeyPairId = manifest.newestKeyPairId
    }

    /// The manifest; nil if the JSON is not a manifest of this version, or if a time, digest, key state or audit head
    /// is invalid.
    ///
    /// Numbers are not checked here: ``BackupFile`` compares ``databaseBytes`` with the length of the file, and
    /// ``SQLiteStore/manifestFindings(_:)`` compares most other numbers with the database.
    var manifest: BackupManifest? {
        guard kind == Self.kind, let createdAt = Timestamp(rfc3339: createdAt),
            let digest = Hex.decode(sha256), digest.count == 32
        else { return nil }
        var states: [KeyState: Int] = [:]
        for (name, count) in keyPairs {
            guard let state = KeyState(rawValue: name) else { return nil }
            states[state] = count
        }
        var head: AuditHead?
        if let auditHead {
            guard let parsed = AuditHead(auditHead) else { return nil }
            head = parsed
        }
        return BackupManifest(
            createdAt: createdAt, programVersion: programVersion, schemaVersion: schemaVersion,
            databaseBytes: databaseBytes, sha256: digest, merchants: merchants, keyPairs: states,
            certificates: certificates, auditHead: head, newestKeyPairId: newestKeyPairId)
    }

    /// The line for the backup file, with a line feed before and after it.
    func line() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Data("\n".utf8) + (try encoder.encode(self)) + Data("\n".utf8)
    }
}
