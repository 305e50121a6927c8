package import MerchantCore
import Secrets

/// Opens the data keys of a database with one master key after the other, for a ``Keyring``.
///
/// During a rotation there are two master keys: the old one with its data key, and the new one.
package struct DataKeyUnsealing {
    private let rows: [SealedDataKey]
    private var opened: [Int: SealingKey] = [:]
    private var damaged: [Int] = []
    /// The master keys that were tried.
    package private(set) var tried: [MasterKeyIdentifier] = []
    private var isLocked = true

    /// - Parameter rows: retired ones are ignored.
    package init(of rows: [SealedDataKey]) { self.rows = rows.filter { !$0.isRetired } }

    /// The master keys that are needed for the data keys that are not open yet.
    package var missing: [MasterKeyIdentifier] {
        rows.filter { opened[$0.identifier] == nil && !damaged.contains($0.identifier) }.map(\.masterKey)
    }

    /// Opens the data keys that this master key sealed.
    package mutating func unseal(with masterKey: borrowing MasterKey) {
        let identifier = masterKey.identifier
        tried.append(identifier)
        // Not combined by `&&` alone: each key must be locked even if locking another failed.
        isLocked = masterKey.withUnsafeBytes(MemoryLock.lock) && isLocked
        for row in rows where opened[row.identifier] == nil {
            let isOurs = ConstantTime.areEqual(row.masterKeyCheck, identifier.bytes)
            switch (DataKeySeal.open(row, with: masterKey.key), isOurs) {
            case (let dataKey?, true):
                isLocked = dataKey.withUnsafeBytes(MemoryLock.lock) && isLocked
                opened[row.identifier] = dataKey
            // Either an opened row or a matching check value shows that the master key is right, so the row is damaged.
            case (_?, false), (nil, true): damaged.append(row.identifier)
            case (nil, false): break
            }
        }
    }

    /// - Throws: `keyDamaged` for a damaged row, `masterKeyConflict` if a master key is missing.
    package consuming func keyring() throws(MerchantError) -> Keyring {
        if let first = damaged.first {
            throw MerchantError(
                .keyDamaged,
                "the master key is the right one, but the row of data key \(first) is damaged: restore the database from a backup"
            )
        }
        for row in rows where opened[row.identifier] == nil {
            let names = tried.map(\.description).joined(separator: " and ")
            throw MerchantError(
                .masterKeyConflict,
                "the master key is not the one of this database: data key \(row.identifier) is sealed by master key \(row.masterKey), found \(names.isEmpty ? "none" : names)"
            )
        }
        guard let newest = opened.max(by: { $0.key < $1.key }) else {
            throw MerchantError(.storeUnavailable, "the database has no data key, expected one")
        }
        return Keyring(opened, newest: newest.key, isLocked: isLocked)
    }
}
