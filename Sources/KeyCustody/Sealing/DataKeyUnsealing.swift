package import MerchantCore
import Secrets

/// Unseals the data keys of a database for a ``Keyring``, with one or more master keys.
///
/// Usually there are one master key and one data key. During a rotation there may be two data keys: the old data key,
/// sealed by the old master key, and the new data key, sealed by the new master key. (If only the data key is rotated,
/// the same master key seals both data keys.)
package struct DataKeyUnsealing {
    private let rows: [SealedDataKey]
    /// The unsealed data keys by their identifiers.
    private var opened: [Int: SealingKey] = [:]
    /// The identifiers of the data keys whose rows are damaged.
    private var damaged: [Int] = []
    /// The master keys that ``unseal(with:)`` was called with.
    package private(set) var triedMasterKeys: [MasterKeyIdentifier] = []
    /// Whether all master keys that ``unseal(with:)`` was called with, and all data keys unsealed so far, are locked in
    /// memory.
    private var isLockedInMemory = true

    /// - Parameter rows: the stored data keys. Retired data keys, which were overwritten with zeros, are ignored.
    package init(of rows: [SealedDataKey]) { self.rows = rows.filter { !$0.isRetired } }

    /// The master keys that are still needed: the ones that sealed the data keys that are not unsealed yet.
    package var missingMasterKeys: [MasterKeyIdentifier] {
        rows.filter { opened[$0.identifier] == nil && !damaged.contains($0.identifier) }.map(\.masterKeyIdentifier)
    }

    /// Unseals the data keys that this master key sealed.
    package mutating func unseal(with masterKey: borrowing MasterKey) {
        let identifier = masterKey.identifier
        triedMasterKeys.append(identifier)
        // `MemoryLock.lock` is called on the left of `&&`, so that this key is locked even if locking an earlier key
        // failed.
        isLockedInMemory = masterKey.withUnsafeBytes(MemoryLock.lock) && isLockedInMemory
        for row in rows where opened[row.identifier] == nil {
            // `masterKeyCheck` holds the bytes of the row's `masterKeyIdentifier`.
            let namesThisMasterKey = ConstantTime.areEqual(row.masterKeyCheck, identifier.bytes)
            switch (DataKeySeal.open(row, with: masterKey.key), namesThisMasterKey) {
            case (let dataKey?, true):
                isLockedInMemory = dataKey.withUnsafeBytes(MemoryLock.lock) && isLockedInMemory
                opened[row.identifier] = dataKey
            // If this master key sealed the row, the row opens and names this master key. If only one of the two is
            // true, the row is damaged.
            case (_?, false), (nil, true): damaged.append(row.identifier)
            case (nil, false): break
            }
        }
    }

    /// - Throws: `keyDamaged` for a damaged row, `masterKeyConflict` if a master key is missing, `storeUnavailable` if
    ///   there is no data key.
    package consuming func keyring() throws(MerchantError) -> Keyring {
        if let first = damaged.first {
            throw MerchantError(
                .keyDamaged,
                "the master key is the right one, but the row of data key \(first) is damaged: restore the database from a backup"
            )
        }
        for row in rows where opened[row.identifier] == nil {
            let names = triedMasterKeys.map(\.description).joined(separator: " and ")
            throw MerchantError(
                .masterKeyConflict,
                "the master key is not the one of this database: data key \(row.identifier) is sealed by master key \(row.masterKeyIdentifier), but the settings give \(names.isEmpty ? "no key" : names); put back master key \(row.masterKeyIdentifier)"
            )
        }
        guard let newest = opened.max(by: { $0.key < $1.key }) else {
            throw MerchantError(.storeUnavailable, "the database has no data key, expected one")
        }
        return Keyring(opened, newest: newest.key, isLockedInMemory: isLockedInMemory)
    }
}
