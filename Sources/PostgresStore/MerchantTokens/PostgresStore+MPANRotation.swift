package import MerchantCore
import StoreCore

// The methods of `KeyRotationStore` about the account numbers of merchant tokens.
extension PostgresStore {
    package func sealedMPANs(notUnder dataKey: Int, after row: Int, limit: Int) async throws -> [SealedMPANRow] {
        try await readStore { try $0.sealedMPANs(notUnder: dataKey, after: row, limit: limit) }
    }

    package func replace(_ seals: [(old: SealedMPANRow, new: SealedMPAN)]) async throws {
        try await writeStore { transaction in
            for (old, new) in seals {
                // Changes no row if the account number was erased or replaced after `old` was read.
                try transaction.executeLater(
                    """
                    UPDATE sealed_mpans SET seal_version = $1, data_key_id = $2, sealed_bytes = $3
                    WHERE id = $4 AND data_key_id = $5 AND sealed_bytes = $6 AND NOT erased
                    """,
                    [
                        new.version, new.dataKeyIdentifier, new.bytes, old.row,
                        old.sealed.dataKeyIdentifier, old.sealed.bytes,
                    ])
            }
        }
    }

    package func erase(_ mpan: SealedMPANRow, recording audit: AuditEntry) async throws {
        try await writeStore { transaction in
            let erased = try transaction.execute(
                """
                UPDATE sealed_mpans SET sealed_bytes = zeros(48), erased = true
                WHERE id = $1 AND data_key_id = $2 AND sealed_bytes = $3 AND NOT erased
                """, [mpan.row, mpan.sealed.dataKeyIdentifier, mpan.sealed.bytes])
            if erased == 1 { try transaction.append(audit) }
        }
    }
}
