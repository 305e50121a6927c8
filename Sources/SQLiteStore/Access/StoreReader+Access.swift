import MerchantCore
import StoreCore
import Vocabulary

extension StoreReading {
    func access(_ name: AccessName) throws -> Access? {
        try firstRow("SELECT \(AccessRow.columns) FROM accesses WHERE name = ?", [name.rawValue], accessOfRow)
    }

    func access(secretIdentifier: String) throws -> Access? {
        try firstRow(
            """
            SELECT \(AccessRow.columns) FROM accesses
            WHERE id = (SELECT access_id FROM access_secrets WHERE secret_identifier = ?)
            """, [secretIdentifier], accessOfRow)
    }

    func access(certificateFingerprint: Bits256) throws -> Access? {
        try firstRow(
            """
            SELECT \(AccessRow.columns) FROM accesses INDEXED BY accesses_by_certificate
            WHERE certificate_fingerprint = ? AND certificate_fingerprint IS NOT NULL AND revoked_at IS NULL
            """, [certificateFingerprint.bytes], accessOfRow)
    }

    func accesses(after cursor: AccessName?, limit: Int) throws -> [Access] {
        try allRows(
            "SELECT \(AccessRow.columns) FROM accesses WHERE name > ? ORDER BY name LIMIT ?",
            [cursor?.rawValue ?? "", max(0, limit)], accessOfRow)
    }

    /// Converts a row of `accesses`, and reads its secrets.
    private func accessOfRow(_ row: some StoredRow) throws -> Access {
        try AccessRow.access(row, secrets(ofAccessRow: try row.int64("id")))
    }

    /// The secrets of the access with this row id, newest first.
    func secrets(ofAccessRow id: Int64) throws -> [AccessSecret] {
        try allRows(
            "SELECT \(AccessSecretRow.columns) FROM access_secrets WHERE access_id = ? ORDER BY id DESC", [id],
            AccessSecretRow.secret)
    }

    /// The id of the access's row; nil if there is none.
    func rowId(of name: AccessName) throws -> Int64? {
        try firstRow("SELECT id FROM accesses WHERE name = ?", [name.rawValue]) { try $0.int64("id") }
    }
}
