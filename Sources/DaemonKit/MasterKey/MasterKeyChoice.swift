import KeyCustody
import MerchantCore

/// The decision whether a rotation keeps the master key, replaces it by a key that the operator supplied, or replaces
/// it by a key that the daemon creates.
struct MasterKeyChoice {
    /// False if only the data key is replaced.
    let replacesMasterKey: Bool
    /// Whether the daemon creates the new master key; otherwise the operator supplied it.
    let createsKey: Bool
    /// The steps of the rotation, for the operator.
    let steps: [String]
    private let source: MasterKeySource
    private let inUse: MasterKeyIdentifier?

    /// - Parameter inUse: the master key that seals the newest data key.
    /// - Throws: `masterKeyConflict` if the source cannot be used for this rotation.
    init(from source: MasterKeySource, inUse: MasterKeyIdentifier?, dataKeyOnly: Bool) throws {
        self.source = source
        self.inUse = inUse
        let inSource = try source.load().identifier
        // If the source returned a different key each time, no later start could open the data keys.
        guard try source.file != nil || source.load().identifier == inSource else {
            throw MerchantError(
                .masterKeyConflict,
                "\(source) returns a different master key each time; it must always return the same one")
        }
        let isSupplied = inSource != inUse
        guard !dataKeyOnly || !isSupplied else {
            throw MerchantError(
                .masterKeyConflict,
                "\(source) holds a new master key, \(inSource), so a rotation cannot replace the data key only; rotate without dataKeyOnly (--data-key-only)"
            )
        }
        let firstStep =
            if dataKeyOnly {
                "keep master key \(inSource)"
            } else if isSupplied {
                "replace master key \(inUse?.description ?? "in use") by \(inSource), which \(source) holds"
            } else if let file = source.file {
                "create a new master key in \(file.path); existing backups need the old key, \(inSource)"
            } else {
                throw MerchantError(
                    .masterKeyConflict,
                    "the daemon cannot write to the source of the master key, \(source); put a new key there, set master-key.previous to the source of the old key, restart the daemon and rotate again. With dataKeyOnly (--data-key-only) only the data key is replaced"
                )
            }
        replacesMasterKey = !dataKeyOnly
        createsKey = !dataKeyOnly && !isSupplied
        steps = [
            firstStep, "re-encrypt every private key under a new data key, while the daemon answers requests",
            dataKeyOnly || isSupplied
                ? "erase the old data key" : "erase the old data key, and overwrite and remove the old master key",
        ]
    }

    /// Returns the master key that will seal the new data key. If the operator did not supply one, creates a file with
    /// a new key, which is on stable storage on return.
    func masterKey() throws(MerchantError) -> MasterKey {
        guard createsKey else { return try source.load() }
        guard let file = source.file, let inUse else {
            throw MerchantError(.internalError, "a new master key can be created in a file only")
        }
        do throws(MerchantError) { return try file.createNext(beside: inUse) } catch {
            throw MerchantError(
                .masterKeyConflict,
                "\(error.detail); make the directory writable for the daemon's user and free space on the disk. Or put a new key into the file yourself, set master-key.previous to a file with the old key, restart the daemon and rotate again"
            )
        }
    }
}
