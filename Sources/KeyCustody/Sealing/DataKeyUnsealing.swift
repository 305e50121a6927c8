package import MerchantCore
import Secrets

/// The data keys of a database on their way to a ``Keyring``, opened by one master key after the other.
///
/// While a rotation is under way there are two: the old master key's data key, and the new one's.
package struct DataKeyUnsealing {
    private let rows: [SealedDataKey]
    private var opened: [Int: SealingKey] = [:]
    private var damaged: [Int] = []
    /// The master keys that were tried.
    package private(set) var offered: [MasterKeyIdentifier] = []
    private var isLocked = true

    /// - Parameter rows: retired ones are passed over.
    package init(of rows: [SealedDataKey]) { self.rows = rows.filter { !$0.isRetired } }

    /// Which master keys are needed for what is not open yet.
    package var missing: [MasterKeyIdentifier] {
        rows.filter { opened[$0.identifier] == nil && !damaged.contains($0.identifier) }.map(\.masterKey)
    }

    /// Opens what this master key sealed.
    package mutating func offer(_ masterKey: borrowing MasterKey) {
        let identifier = masterKey.identifier
        offered.append(identifier)
        // One step after the other: none is left out because another failed.
        isLocked = masterKey.withUnsafeBytes(MemoryLock.lock) && isLocked
        for row in rows where opened[row.identifier] == nil {
            let isOurs = ConstantTime.areEqual(row.masterKeyCheck, identifier.bytes)
            switch (DataKeySeal.open(row, with: masterKey.key), isOurs) {
            case (let dataKey?, true):
                isLocked = dataKey.withUnsafeBytes(MemoryLock.lock) && isLocked
                opened[row.identifier] = dataKey
            // One that opens, or bears this key's check value, shows that the master key is the right one.
            case (_?, false), (nil, true): damaged.append(row.identifier)
            case (nil, false): break
            }
        }
    }

    /// - Throws: `keyDamaged` for a damaged row, `masterKeyConflict` where a master key is missing.
    package consuming func keyring() throws(MerchantError) -> Keyring {
        if let first = damaged.first {
            throw MerchantError(
                .keyDamaged,
                "the master key is the right one, but the row of data key \(first) is damaged: restore the database from a backup"
            )
        }
        for row in rows where opened[row.identifier] == nil {
            let here = offered.map(\.description).joined(separator: " and ")
            throw MerchantError(
                .masterKeyConflict,
                "the master key is not the one this database was made with: data key \(row.identifier) is sealed by master key \(row.masterKey), found \(here.isEmpty ? "none" : here)"
            )
        }
        guard let newest = opened.max(by: { $0.key < $1.key }) else {
            throw MerchantError(.storeUnavailable, "the database has no data key, expected one")
        }
        return Keyring(opened, newest: newest.key, isLocked: isLocked)
    }
}
