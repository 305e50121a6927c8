import Crypto
import FoundationEssentials
import MerchantCore
import Secrets
import Vocabulary

/// Data keys under the master key: 32 random bytes, AES-256-GCM, bound to their identifier.
enum DataKeySeal {
    static func make(
        identifier: Int, under masterKey: borrowing MasterKey, at now: Timestamp
    ) throws -> SealedDataKey {
        let dataKey = SecretBytes(count: MasterKey.length, filledBy: Randomness.fill)
        let box = try dataKey.withUnsafeBytes { plaintext in
            try AES.GCM.seal(plaintext, using: masterKey.symmetricKey, authenticating: associatedData(identifier))
        }
        guard let combined = box.combined else {
            preconditionFailure("a nonce of 12 bytes, the default, always has a combined form")
        }
        return SealedDataKey(
            identifier: identifier, bytes: Array(combined), masterKeyCheck: masterKey.check, createdAt: now)
    }

    /// - Throws: `storeUnavailable` for a wrong master key, `keyDamaged` for a damaged row.
    static func open(
        _ rows: [SealedDataKey], with masterKey: borrowing MasterKey
    ) throws(MerchantError) -> [Int: SymmetricKey] {
        let check = masterKey.check
        let key = masterKey.symmetricKey
        let opened = rows.map { (row: $0, dataKey: open($0, with: key)) }
        // One row that opens, or bears this key's check value, shows that the master key is the right one.
        guard rows.isEmpty || opened.contains(where: { $0.dataKey != nil || isCheck($0.row, check) }) else {
            throw MerchantError(
                .storeUnavailable,
                "the master key file is not the one this database was made with: put back the right file")
        }
        var dataKeys: [Int: SymmetricKey] = [:]
        for (row, dataKey) in opened {
            guard let dataKey, isCheck(row, check) else {
                throw MerchantError(
                    .keyDamaged,
                    "the master key is the right one, but the row of data key \(row.identifier) is damaged: restore the database from a backup"
                )
            }
            dataKeys[row.identifier] = dataKey
        }
        return dataKeys
    }

    private static func open(_ row: SealedDataKey, with key: SymmetricKey) -> SymmetricKey? {
        guard let box = try? AES.GCM.SealedBox(combined: row.bytes),
            var plaintext = try? AES.GCM.open(box, using: key, authenticating: associatedData(row.identifier))
        else { return nil }
        defer { Wipe.bytes(&plaintext) }
        return plaintext.count == MasterKey.length ? SymmetricKey(data: plaintext) : nil
    }

    private static func isCheck(_ row: SealedDataKey, _ check: [UInt8]) -> Bool {
        ConstantTime.areEqual(row.masterKeyCheck, check)
    }

    private static func associatedData(_ identifier: Int) -> [UInt8] {
        var data = AssociatedData(label: "merchantkeyd data key 1")
        data.append(identifier)
        return data.bytes
    }
}
