import FoundationEssentials
import GRDB
package import MerchantCore
package import Vocabulary

extension SQLiteStore: KeyRotationStore {
    package func lastRotation() async throws -> KeyRotation? {
        try await readStore { try $0.lastRotation() }
    }

    package func beginRotation(
        to dataKey: SealedDataKey, replacesMasterKey: Bool, generatedMasterKey: MasterKeyIdentifier?,
        recording audit: AuditEntry
    ) async throws -> KeyRotation {
        try await writeStore { transaction in
            if let last = try transaction.lastRotation(), last.state != .finished {
                throw MerchantError(
                    .masterKeyConflict, "a rotation has been in progress since \(last.startedAt), expected none")
            }
            try Self.insert(dataKey, in: transaction.db)
            let total = try transaction.countSeals(notUnder: dataKey.identifier)
            try transaction.execute(
                """
                INSERT INTO key_rotations (state, data_key_id, replaces_master_key, total, started_at)
                VALUES ('sealing', ?, ?, ?, ?)
                """, [dataKey.identifier, replacesMasterKey, total, dataKey.createdAt.millisecondsSince1970])
            try transaction.setDaemonFact(Self.generatedMasterKeyFact, generatedMasterKey?.description ?? "")
            try transaction.append(audit)
            return KeyRotation(
                identifier: Int(transaction.db.lastInsertedRowID), state: .sealing,
                dataKeyIdentifier: dataKey.identifier, replacesMasterKey: replacesMasterKey, total: total, done: 0,
                startedAt: dataKey.createdAt, finishedAt: nil)
        }
    }

    private static let generatedMasterKeyFact = "generatedMasterKey"

    package func generatedMasterKey() async throws -> MasterKeyIdentifier? {
        let text = try await read { try $0.daemonFact(Self.generatedMasterKeyFact) }
        return text.flatMap { Hex.decode($0) }.flatMap { $0.isEmpty ? nil : MasterKeyIdentifier(bytes: $0) }
    }

    package func seals(notUnder dataKey: Int, after row: Int, limit: Int) async throws -> [StoredSeal] {
        try await readStore { try $0.seals(notUnder: dataKey, after: row, limit: limit) }
    }

    package func replace(_ seals: [(old: StoredSeal, new: SealedPrivateKey)], in rotation: KeyRotation) async throws {
        try await writeStore { transaction in
            var done = 0
            for (old, new) in seals {
                // Changes no row if the key was destroyed or its seal was replaced after `old` was read.
                done += try transaction.execute(
                    """
                    UPDATE sealed_private_keys SET seal_version = ?, data_key_id = ?, sealed_bytes = ?
                    WHERE id = ? AND data_key_id = ? AND erased = 0
                    """,
                    [
                        new.version, new.dataKeyIdentifier, Data(new.bytes), old.row,
                        old.stored.sealedPrivateKey.dataKeyIdentifier,
                    ])
            }
            try transaction.execute(
                "UPDATE key_rotations SET done = done + ? WHERE id = ?", [done, rotation.identifier])
        }
    }

    package func retireDataKeys(in rotation: KeyRotation) async throws -> Int {
        try await writeStore { transaction in
            let remaining = try transaction.countSeals(notUnder: rotation.dataKeyIdentifier)
            guard remaining == 0 else { return remaining }
            // Zeros of the same length overwrite each old data key. Its row is kept, because the rows of destroyed
            // private keys refer to it.
            try transaction.execute(
                """
                UPDATE data_keys SET sealed_bytes = zeroblob(length(sealed_bytes))
                WHERE id <> ? AND sealed_bytes <> zeroblob(length(sealed_bytes))
                """,
                [rotation.dataKeyIdentifier])
            try transaction.execute("UPDATE key_rotations SET state = 'erasing' WHERE id = ?", [rotation.identifier])
            return 0
        }
    }

    package func eraseTraces(of rotation: KeyRotation) async throws {
        // SQLite stores an id below 128 in at most one byte, and a higher id in more. If the id of a row's data key
        // changes from a low one to a higher one, the row grows. SQLite may then move it, and leave its old bytes in
        // the page. To remove them, the whole file is rewritten.
        let mayHaveMoved = try await readStore { reader in
            try reader.first("SELECT 1 FROM data_keys WHERE id < 128", []) { _ in true } ?? false
        }
        if mayHaveMoved { try await rewrite() }
        try await eraseRemovedBytes()
    }

    package func finish(_ rotation: KeyRotation, at now: Timestamp, recording audit: AuditEntry) async throws {
        try await writeStore { transaction in
            try transaction.execute(
                "UPDATE key_rotations SET state = 'finished', finished_at = ? WHERE id = ? AND state = 'erasing'",
                [now.millisecondsSince1970, rotation.identifier])
            try transaction.append(audit)
        }
    }
}

extension SQLiteStore {
    /// Writes the whole database to its file again, without unused bytes. Other writes wait meanwhile; reads do not.
    private func rewrite() async throws {
        try queue.requireReady()
        do {
            try await pool.writeWithoutTransaction { [queue] db in
                try queue.requireInPlace()
                // VACUUM creates a temporary copy of the database, which may be too large for the memory.
                try db.execute(sql: "PRAGMA temp_store = FILE")
                defer { try? db.execute(sql: "PRAGMA temp_store = MEMORY") }
                try db.execute(sql: "VACUUM")
            }
        } catch { throw queue.handled(error) }
    }
}

extension StoreReading {
    func lastRotation() throws -> KeyRotation? {
        try first(
            """
            SELECT id, state, data_key_id, replaces_master_key, total, done, started_at, finished_at
            FROM key_rotations ORDER BY id DESC LIMIT 1
            """, []
        ) { row in
            // `done` can exceed `total`, which was counted when the rotation began: it also counts keys that were
            // sealed before and stored after that.
            let done = try row.integer("done")
            return KeyRotation(
                identifier: try row.integer("id"), state: try row.oneOf(KeyRotation.State.self, "state"),
                dataKeyIdentifier: try row.integer("data_key_id"),
                replacesMasterKey: try row.flag("replaces_master_key"), total: max(try row.integer("total"), done),
                done: done, startedAt: try row.timestamp("started_at"),
                finishedAt: try row.timestampIfAny("finished_at"))
        }
    }

    func countSeals(notUnder dataKey: Int) throws -> Int {
        try first(
            "SELECT count(*) AS seals FROM sealed_private_keys WHERE erased = 0 AND data_key_id <> ?", [dataKey]
        ) { try $0.integer("seals") } ?? 0
    }

    func seals(notUnder dataKey: Int, after row: Int, limit: Int) throws -> [StoredSeal] {
        try every(
            """
            SELECT sealed_private_keys.id AS row, seal_version, data_key_id, sealed_bytes, \(KeyPairRow.columns)
            FROM sealed_private_keys CROSS JOIN key_pairs ON key_pairs.id = sealed_private_keys.id
            WHERE sealed_private_keys.id > ? AND erased = 0 AND data_key_id <> ?
            ORDER BY sealed_private_keys.id LIMIT ?
            """, [row, dataKey, limit]
        ) { row in
            StoredSeal(
                row: try row.integer("row"),
                stored: SealedKeyPair(
                    keyPair: try KeyPairRow.keyPair(row),
                    sealedPrivateKey: SealedPrivateKey(
                        version: try row.integer("seal_version"), dataKeyIdentifier: try row.integer("data_key_id"),
                        bytes: try row.bytes("sealed_bytes"))))
        }
    }
}
