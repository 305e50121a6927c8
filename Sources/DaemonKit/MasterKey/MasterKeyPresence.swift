import KeyCustody
import MerchantCore

/// Checks whether the next start will find the master keys that the database needs. Checks nothing if a key comes from
/// a command. Once it has found every key, reads the files again only if one of them has changed.
struct MasterKeyPresence {
    let settings: MasterKeySettings
    let store: any DataKeyRepository
    /// The attributes of the files when the last check found every key; nil if it did not, and before the first check.
    private var filesWithAllKeys: [FileStatus?]?

    init(settings: MasterKeySettings, store: any DataKeyRepository) {
        self.settings = settings
        self.store = store
    }

    /// What an operator can do instead of putting the right key back; nil if there is nothing.
    var alternative: String? {
        settings.current.file == nil
            ? nil
            : "run 'merchantkeyctl master-key rotate', if you have no copy of the key: it creates a new master key"
    }

    /// - Returns: what is wrong; nil if the check found every key, or checked nothing.
    mutating func problem() throws -> String? {
        let sources = MasterKeys(settings).sources
        let paths = sources.compactMap(\.path)
        guard paths.count == sources.count else { return nil }
        let files = paths.map { FileStatus(of: $0, followsLinks: true) }
        guard files != filesWithAllKeys else { return nil }
        filesWithAllKeys = nil
        var needed = Set(try store.dataKeys().filter { !$0.isRetired }.map(\.masterKeyIdentifier))
        var failures: [String] = []
        for source in sources {
            do { needed.remove(try source.load().identifier) } catch { failures.append(error.detail) }
        }
        guard let missing = needed.first else {
            filesWithAllKeys = files
            return nil
        }
        let reason = failures.isEmpty ? "the file contains another key" : failures.joined(separator: "; ")
        return "the database needs master key \(missing), which is not in \(paths[0]): \(reason)"
    }
}
