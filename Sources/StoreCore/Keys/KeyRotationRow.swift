package import MerchantCore
import Vocabulary

/// Converts a row of `key_rotations` to a rotation, and a rotation that begins to its row.
package enum KeyRotationRow {
    package static let columns =
        "id, state, data_key_id, replaces_master_key, total, done, started_at, finished_at"

    package static func rotation(_ row: some StoredRow) throws -> KeyRotation {
        // `total` was counted when the rotation began. `done` can exceed `total`, because `done` also counts private
        // keys that were sealed under the old data key before that time and stored after it.
        let done = try row.integer("done")
        return KeyRotation(
            identifier: try row.integer("id"), state: try row.oneOf(KeyRotation.State.self, "state"),
            dataKeyIdentifier: try row.integer("data_key_id"),
            replacesMasterKey: try row.flag("replaces_master_key"), total: max(try row.integer("total"), done),
            done: done, startedAt: try row.timestamp("started_at"),
            finishedAt: try row.timestampIfAny("finished_at"))
    }

    package static let insertedColumns = "state, data_key_id, replaces_master_key, total, started_at"

    /// The values of ``insertedColumns`` for a rotation that begins.
    ///
    /// - Parameters:
    ///   - dataKey: the new data key.
    ///   - total: the number of private keys to re-encrypt.
    package static func values(to dataKey: SealedDataKey, replacesMasterKey: Bool, total: Int) -> Arguments {
        [KeyRotation.State.sealing.rawValue, dataKey.identifier, replacesMasterKey, total, dataKey.createdAt]
    }
}
