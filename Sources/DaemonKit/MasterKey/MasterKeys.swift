import Glibc
import KeyCustody
import MerchantCore
import Vocabulary

/// The sources of the master keys that may be needed. A key stays in memory only until it has opened the data keys.
struct MasterKeys: Sendable {
    /// Loaded in this order, until every data key is open.
    let sources: [MasterKeySource]

    /// From the settings: the current key; the new key of a rotation in progress; the previous key.
    init(_ settings: MasterKeySettings) {
        let next = settings.current.file.flatMap { $0.hasNext ? MasterKeySource.file($0.next) : nil }
        sources = [settings.current] + [next, settings.previous].compactMap(\.self)
    }

    /// From files that the command line names instead of the settings.
    ///
    /// - Returns: nil if `files` is empty.
    init?(files: [String]) {
        guard !files.isEmpty else { return nil }
        sources = files.map { .file($0) }
    }

    /// Opens every data key; creates the first one in a new database.
    ///
    /// - Throws: what a source throws, or `masterKeyConflict` naming the master key that is missing.
    func keyring(opening repository: some DataKeyRepository, at now: Timestamp) throws -> Keyring {
        let first = try sources[0].load()
        // Before the first data key is sealed: if the source returned a different key each time, no later start could
        // open it.
        if sources[0].file == nil, try repository.dataKeys().isEmpty,
            try sources[0].load().identifier != first.identifier
        {
            throw MerchantError(
                .masterKeyConflict,
                "\(sources[0]) returns a different master key each time; it must always return the same one")
        }
        try Keyring.createFirst(in: repository, under: first, at: now)
        var unsealing = DataKeyUnsealing(of: try repository.dataKeys())
        unsealing.unseal(with: first)
        for source in sources.dropFirst() where !unsealing.missing.isEmpty { unsealing.unseal(with: try source.load()) }
        return try unsealing.keyring()
    }
}
