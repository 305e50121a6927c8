import Glibc
import KeyCustody
import MerchantCore
import Vocabulary

/// The master keys that may be needed, in the order they are asked for. Each is let go as soon as it has opened what it sealed.
struct MasterKeys: Sendable {
    /// Asked in this order, until every data key is open.
    let sources: [MasterKeySource]

    /// By the settings: the current one; a fresh one that a rotation is just bringing in; the previous one.
    init(_ settings: MasterKeySettings) {
        let next = settings.current.file.flatMap { $0.hasNext ? MasterKeySource.file($0.next) : nil }
        sources = [settings.current] + [next, settings.previous].compactMap(\.self)
    }

    /// Files that were named instead.
    ///
    /// - Returns: nil for none.
    init?(files: [String]) {
        guard !files.isEmpty else { return nil }
        sources = files.map { .file($0) }
    }

    /// Opens every data key; makes the first where there is none.
    ///
    /// - Throws: what a source throws, or `masterKeyConflict` naming the master key that is missing.
    func keyring(opening repository: some DataKeyRepository, at now: Timestamp) throws -> Keyring {
        let first = try sources[0].load()
        // A source that says something else each time would seal everything for good.
        if sources[0].file == nil, try repository.dataKeys().isEmpty,
            try sources[0].load().identifier != first.identifier
        {
            throw MerchantError(
                .masterKeyConflict, "\(sources[0]) gives another master key each time, expected one and the same")
        }
        try Keyring.createFirst(in: repository, under: first, at: now)
        var unsealing = DataKeyUnsealing(of: try repository.dataKeys())
        unsealing.unseal(with: first)
        for source in sources.dropFirst() where !unsealing.missing.isEmpty { unsealing.unseal(with: try source.load()) }
        return try unsealing.keyring()
    }
}
