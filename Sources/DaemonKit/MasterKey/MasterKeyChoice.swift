import KeyCustody
import MerchantCore

/// The decision whether a rotation keeps the master key, replaces it by a key that the operator supplied, or replaces
/// it by a key that the daemon creates.
struct MasterKeyChoice {
    /// Where the master key that seals the new data key comes from.
    private enum NewKey {
        /// The master key stays the same, and only the data key is replaced.
        case kept
        /// The operator put the new master key into the source that the settings name.
        case supplied
        /// The daemon creates the new master key. At the end of the rotation, its file replaces that of the old key.
        case created
        /// The file of the old master key was lost. The daemon creates the new master key at its path.
        case createdForMissingFile
    }

    /// The steps of the rotation, for the operator.
    let steps: [String]
    private let newKey: NewKey
    private let source: MasterKeySource
    private let inUse: MasterKeyIdentifier?

    /// False if only the data key is replaced.
    var replacesMasterKey: Bool { newKey != .kept }
    /// Whether the daemon replaces the file of the old master key at the end of the rotation.
    var replacesFile: Bool { newKey == .created }

    /// Whether the daemon creates the new master key.
    var createsKey: Bool { newKey == .created || newKey == .createdForMissingFile }

    /// - Parameter inUse: the master key that seals the newest data key.
    /// - Throws: `masterKeyConflict` if the source cannot be used for this rotation.
    init(from source: MasterKeySource, inUse: MasterKeyIdentifier?, dataKeyOnly: Bool) throws {
        self.source = source
        self.inUse = inUse
        let firstStep: String
        if let file = source.file, file.isMissing {
            guard !dataKeyOnly else {
                throw MerchantError(
                    .masterKeyConflict,
                    "the master key file \(file.path) is missing, so a rotation cannot keep the master key; put the file back, or rotate without dataKeyOnly (--data-key-only) to create a new master key"
                )
            }
            newKey = .createdForMissingFile
            firstStep =
                "create a new master key in \(file.path), because this file is missing; without the lost key\(inUse.map { " (\($0))" } ?? ""), nobody can use the existing backups"
        } else {
            (newKey, firstStep) = try Self.choice(from: source, inUse: inUse, dataKeyOnly: dataKeyOnly)
        }
        steps = [
            firstStep, "re-encrypt every private key under a new data key, while the daemon answers requests",
            newKey == .created
                ? "erase the old data key, and overwrite and remove the old master key" : "erase the old data key",
        ]
    }

    /// The choice, unless the file of the master key is missing.
    ///
    /// - Returns: the choice, and the first step of the rotation.
    private static func choice(
        from source: MasterKeySource, inUse: MasterKeyIdentifier?, dataKeyOnly: Bool
    ) throws -> (NewKey, firstStep: String) {
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
        if dataKeyOnly { return (.kept, "keep master key \(inSource)") }
        if isSupplied {
            return (
                .supplied,
                "replace \(inUse.map { "master key \($0)" } ?? "the master key in use") by \(inSource), which \(source) holds"
            )
        }
        guard let file = source.file else {
            throw MerchantError(
                .masterKeyConflict,
                "the daemon cannot write to the source of the master key, \(source); put a new key there, set master-key.previous to the source of the old key, restart the daemon and rotate again. With dataKeyOnly (--data-key-only) only the data key is replaced"
            )
        }
        return (.created, "create a new master key in \(file.path); existing backups need the old key, \(inSource)")
    }

    /// Returns the master key that will seal the new data key. If the daemon creates this master key, creates its file,
    /// which is on stable storage on return. Otherwise loads the key from its source.
    func masterKey() throws(MerchantError) -> MasterKey {
        switch newKey {
        case .kept, .supplied: return try source.load()
        case .created, .createdForMissingFile: break
        }
        guard let file = source.file, let inUse else {
            throw MerchantError(.internalError, "a new master key can be created in a file only")
        }
        do throws(MerchantError) {
            if newKey == .createdForMissingFile { return try file.createMissing(inPlaceOf: inUse) }
            return try file.createNext(whileInUse: inUse)
        } catch {
            throw MerchantError(
                .masterKeyConflict,
                "\(error.detail); make the directory writable for the daemon's user and free space on the disk. Or put a new key into the file yourself, set master-key.previous to a file with the old key, restart the daemon and rotate again"
            )
        }
    }
}
