package import MerchantCore
import StoreCore
package import Vocabulary

extension PostgresStore: KeyRotationStore {
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
                "INSERT INTO key_rotations (\(KeyRotationRow.insertedColumns)) VALUES ($1, $2, $3, $4, $5)",
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
            // Changes no row if the private key was destroyed or sealed again after `old` was read.
            let changes = sealedKeys.map { old, new in
                Query(
                    """
                    UPDATE sealed_private_keys SET seal_version = $1, data_key_id = $2, sealed_bytes = $3
                    WHERE id = $4 AND data_key_id = $5 AND NOT erased
                    """,
                    SealedKeyRow.values(new) + [old.row, old.sealedKeyPair.sealedPrivateKey.dataKeyIdentifier])
            }
            let done = try transaction.connection.queries(changes).reduce(0) { $0 + $1.changedRows }
            try transaction.executeLater(
                "UPDATE key_rotations SET done = done + $1 WHERE id = $2", [done, rotation.identifier])
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
            try transaction.executeLater(
                """
                UPDATE data_keys SET sealed_bytes = zeros(octet_length(sealed_bytes))
                WHERE id < $1 AND sealed_bytes <> zeros(octet_length(sealed_bytes))
                """,
                [rotation.dataKeyIdentifier])
            try transaction.executeLater(
                "UPDATE key_rotations SET state = 'erasing' WHERE id = $1", [rotation.identifier])
            return 0
        }
    }

    package func eraseCopiesOfOldKeys(after rotation: KeyRotation) async throws {
        try await eraseCopiesOfDestroyedSecrets()
    }

    package func finish(_ rotation: KeyRotation, at now: Timestamp, recording audit: AuditEntry) async throws {
        try await writeStore { transaction in
            let finished = try transaction.execute(
                "UPDATE key_rotations SET state = 'finished', finished_at = $1 WHERE id = $2 AND state = 'erasing'",
                [now, rotation.identifier])
            // A daemon that was the leader before may have finished the rotation meanwhile.
            if finished == 1 { try transaction.append(audit) }
        }
    }
}

extension StoreReading {
    func lastRotation() throws -> KeyRotation? {
        try firstRow(
            "SELECT \(KeyRotationRow.columns) FROM key_rotations ORDER BY id DESC LIMIT 1", [],
            KeyRotationRow.rotation)
    }

    /// The number of private keys that are sealed under another data key.
    func countSealedKeys(notUnder dataKey: Int) throws -> Int {
        // Two ranges of the index instead of `<>`, for which PostgreSQL would read the whole index.
        try firstRow(
            """
            SELECT (SELECT count(*) FROM sealed_private_keys WHERE NOT erased AND data_key_id < $1)
                + (SELECT count(*) FROM sealed_private_keys WHERE NOT erased AND data_key_id > $1) AS sealed_keys
            """, [dataKey]
        ) { try $0.integer("sealed_keys") } ?? 0
    }

    func sealedKeys(notUnder dataKey: Int, after row: Int, limit: Int) throws -> [SealedKeyPairRow] {
        // The condition is given for both ids, because PostgreSQL does not infer one condition from the other. With
        // only one condition, a merge join would read every key pair up to `row`, too.
        try allRows(
            """
            SELECT \(SealedKeyRow.joinedColumns)
            FROM sealed_private_keys JOIN key_pairs ON key_pairs.id = sealed_private_keys.id
            WHERE sealed_private_keys.id > $1 AND key_pairs.id > $1 AND NOT erased AND data_key_id <> $2
            ORDER BY sealed_private_keys.id LIMIT $3
            """, [row, dataKey, limit], SealedKeyRow.sealedKeyPair)
    }
}
