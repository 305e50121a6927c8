import Glibc
import KeyCustody
import MerchantCore
import Vocabulary

/// The sources of all master keys that may seal a data key in the database. A master key stays in memory only until it
/// has opened the data keys.
struct MasterKeys: Sendable {
    /// The keys are loaded in this order, until every data key is open.
    let sources: [MasterKeySource]

    init(sources: [MasterKeySource]) { self.sources = sources }

    /// The sources from the settings: the current key, the new key of a rotation in progress, and the previous key.
    init(_ settings: MasterKeySettings) {
        let next = settings.current.file.flatMap { $0.hasNext ? MasterKeySource.file($0.nextPath) : nil }
        sources = [settings.current] + [next, settings.previous].compactMap(\.self)
    }

    /// The files that the command line names. They replace the sources in the settings.
    ///
    /// - Returns: nil if `files` is empty.
    init?(files: [String]) {
        guard !files.isEmpty else { return nil }
        sources = files.map { .file($0) }
    }

    /// The keys for a command that reads a backup or copies a store outside the daemon: the files that the command line
    /// names, else the sources from the settings.
    ///
    /// - Throws: ``SettingsError`` if only the daemon's process can read the key.
    init(files: [String], else settings: MasterKeySettings) throws {
        if let named = MasterKeys(files: files) {
            self = named
            return
        }
        guard settings.current.reasonUnreadableHere == nil else {
            throw SettingsError(
                "the master key is in the \(settings.current), which only the daemon's process can read; put a copy of the key into a file, and name it with --master-key-file"
            )
        }
        self.init(settings)
    }

    /// The data keys of a database, and the sources of all master keys that were tried, also of those that opened no
    /// data key.
    struct Opened {
        let keyring: Keyring
        let sources: [MasterKeyIdentifier: MasterKeySource]
    }

    /// A faulty command could print a different key each time. This must be detected before the first data key is
    /// sealed: no later start could open a data key that is sealed under such a master key.
    ///
    /// - Throws: `masterKeyConflict` if the first source returns another key than `firstKey` now.
    func requireSameKeyEachTime(_ firstKey: borrowing MasterKey) throws {
        guard try sources[0].load().identifier != firstKey.identifier else { return }
        throw MerchantError(
            .masterKeyConflict,
            "\(sources[0]) returns a different master key each time; it must always return the same one")
    }

    /// Opens every data key, as ``open(_:at:)`` does, for a caller that does not need the sources.
    func keyring(opening repository: some DataKeyRepository, at now: Timestamp) throws -> Keyring {
        try open(repository, at: now).keyring
    }

    /// Opens every data key. In a new database, creates the first data key.
    ///
    /// - Throws: what a source throws, or `masterKeyConflict` with the identifier of a missing master key.
    func open(_ repository: some DataKeyRepository, at now: Timestamp) throws -> Opened {
        let firstKey = try sources[0].load()
        if sources[0].file == nil, try repository.dataKeys().isEmpty { try requireSameKeyEachTime(firstKey) }
        try Keyring.createFirst(in: repository, under: firstKey, at: now)
        var unsealing = DataKeyUnsealing(of: try repository.dataKeys())
        unsealing.unseal(with: firstKey)
        for source in sources.dropFirst() where !unsealing.missingMasterKeys.isEmpty {
            unsealing.unseal(with: try source.load())
        }
        // The sources were tried in their order until every data key was open, so the last sources may be untried.
        let tried = Dictionary(zip(unsealing.triedMasterKeys, sources)) { first, _ in first }
        return Opened(keyring: try unsealing.keyring(), sources: tried)
    }
}
