import GRDB
package import MerchantCore
import StoreCore
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
            try KeyRotation.requireFinished(try transaction.lastRotation())
            try transaction.insert(dataKey)
            let total = try transaction.countSealedKeys(notUnder: dataKey.identifier)
            let row = try transaction.insertRow(
                "INSERT INTO key_rotations (\(KeyRotationRow.insertedColumns)) VALUES (?, ?, ?, ?, ?)",
                KeyRotationRow.values(to: dataKey, replacesMasterKey: replacesMasterKey, total: total))
            try transaction.setDaemonValue(
                MasterKeyIdentifier.generatedKeyValueName, generatedMasterKey?.description ?? "")
            try transaction.append(audit)
            return KeyRotation(
                identifier: Int(row), state: .sealing, dataKeyIdentifier: dataKey.identifier,
                replacesMasterKey: replacesMasterKey, total: total, done: 0, startedAt: dataKey.createdAt,
                finishedAt: nil)
        }
    }

    package func generatedMasterKey() async throws -> MasterKeyIdentifier? {
        let text = try await read { try $0.daemonValue(MasterKeyIdentifier.generatedKeyValueName) }
        return text.flatMap { MasterKeyIdentifier(daemonValue: $0) }
    }

    package func sealedKeys(notUnder dataKey: Int, after row: Int, limit: Int) async throws -> [SealedKeyPairRow] {
        try await readStore { try $0.sealedKeys(notUnder: dataKey, after: row, limit: limit) }
    }

    package func replace(
        _ sealedKeys: [(old: SealedKeyPairRow, new: SealedPrivateKey)], in rotation: KeyRotation
    ) async throws {
        try await writeStore { transaction in
            var done = 0
            for (old, new) in sealedKeys {
                // Changes no row if the private key was destroyed or sealed again after `old` was read.
                done += try transaction.execute(
                    """
                    UPDATE sealed_private_keys SET seal_version = ?, data_key_id = ?, sealed_bytes = ?
                    WHERE id = ? AND data_key_id = ? AND erased = 0
                    """,
                    SealedKeyRow.values(new) + [old.row, old.sealedKeyPair.sealedPrivateKey.dataKeyIdentifier])
            }
            try transaction.execute(
                "UPDATE key_rotations SET done = done + ? WHERE id = ?", [done, rotation.identifier])
        }
    }

    package func eraseOldDataKeysIfUnused(in rotation: KeyRotation) async throws -> Int {
        try await writeStore { transaction in
            let remaining =
                try transaction.countSealedKeys(notUnder: rotation.dataKeyIdentifier)
                + transaction.countSealedMPANs(notUnder: rotation.dataKeyIdentifier)
            guard remaining == 0 else { return remaining }
            // Overwrites each old data key with zeros of the same length. The row of the data key is kept, because the
            // rows of erased secrets refer to that row.
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

    package func eraseCopiesOfOldKeys(after rotation: KeyRotation) async throws {
        // The daemon gives data keys ids from 128, which SQLite stores in two bytes. A lower id has at most one byte:
        // if `data_key_id` changes from such an id, the row grows, and SQLite may move the row and leave the old bytes
        // in the page. Only rewriting the whole file removes those bytes.
        let mayHaveMoved = try await readStore { reader in
            try reader.firstRow("SELECT 1 FROM data_keys WHERE id < 128", []) { _ in true } ?? false
        }
        if mayHaveMoved { try await vacuum() }
        try await eraseCopiesOfDestroyedSecrets()
    }

    package func finish(_ rotation: KeyRotation, at now: Timestamp, recording audit: AuditEntry) async throws {
        try await writeStore { transaction in
            try transaction.execute(
                "UPDATE key_rotations SET state = 'finished', finished_at = ? WHERE id = ? AND state = 'erasing'",
                [now, rotation.identifier])
            try transaction.append(audit)
        }
    }
}

extension SQLiteStore {
    /// Rewrites the whole database file, without unused bytes. Other writes wait meanwhile, but reads do not.
    private func vacuum() async throws {
        try queue.requireWritesAccepted()
        do {
            try await pool.writeWithoutTransaction { [queue] db in
                try queue.requireOriginalFiles()
                // VACUUM creates a temporary copy of the database. The copy may be too large for the memory, so it is
                // written to a file.
                try db.execute(sql: "PRAGMA temp_store = FILE")
                defer { try? db.execute(sql: "PRAGMA temp_store = MEMORY") }
                try db.execute(sql: "VACUUM")
            }
        } catch { throw queue.translatedAndRecorded(error) }
    }
}

extension StoreReading {
    func lastRotation() throws -> KeyRotation? {
        try firstRow(
            "SELECT \(KeyRotationRow.columns) FROM key_rotations ORDER BY id DESC LIMIT 1", [],
            KeyRotationRow.rotation)
    }

    /// The number of private keys, without erased ones, that are sealed under a data key other than `dataKey`.
    func countSealedKeys(notUnder dataKey: Int) throws -> Int {
        try firstRow(
            "SELECT count(*) AS sealed_keys FROM sealed_private_keys WHERE erased = 0 AND data_key_id <> ?", [dataKey]
        ) { try $0.integer("sealed_keys") } ?? 0
    }

    func sealedKeys(notUnder dataKey: Int, after row: Int, limit: Int) throws -> [SealedKeyPairRow] {
        try allRows(
            """
            SELECT \(SealedKeyRow.joinedColumns)
            FROM sealed_private_keys CROSS JOIN key_pairs ON key_pairs.id = sealed_private_keys.id
            WHERE sealed_private_keys.id > ? AND erased = 0 AND data_key_id <> ?
            ORDER BY sealed_private_keys.id LIMIT ?
            """, [row, dataKey, limit], SealedKeyRow.sealedKeyPair)
    }
}
