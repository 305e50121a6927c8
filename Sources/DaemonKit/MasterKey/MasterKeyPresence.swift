import KeyCustody
import MerchantCore
import SQLiteStore

/// Checks whether the next start will find the master keys that the database needs. Checks nothing if a key comes from
/// a command.
///
/// Reads a file again only after it changed.
struct MasterKeyPresence {
    let settings: MasterKeySettings
    let store: SQLiteStore
    /// The files when the last check found every key; nil if a key was missing.
    private var verified: [FileStatus?]?

    init(settings: MasterKeySettings, store: SQLiteStore) {
        self.settings = settings
        self.store = store
    }

    /// - Returns: what is wrong; nil if every key was found, or nothing was checked.
    mutating func fault() throws -> String? {
        let sources = MasterKeys(settings).sources
        let paths = sources.compactMap(\.path)
        guard paths.count == sources.count else { return nil }
        let files = paths.map { FileStatus(of: $0, followsLinks: true) }
        guard files != verified else { return nil }
        verified = nil
        var needed = Set(try store.dataKeys().filter { !$0.isRetired }.map(\.masterKey))
        var failures: [String] = []
        for source in sources {
            do { needed.remove(try source.load().identifier) } catch { failures.append(error.detail) }
        }
        guard let missing = needed.first else {
            verified = files
            return nil
        }
        let found = failures.isEmpty ? "it holds another key" : failures.joined(separator: "; ")
        return "the database needs master key \(missing), which is not in \(paths[0]): \(found)"
    }
}

extension MasterKeySource {
    /// The file that the key is read from; nil for a command, or for a credential if systemd did not start the daemon.
    fileprivate var path: String? {
        switch self {
        case .file(let path): path
        case .credential(let name, let directory): directory.map { "\($0)/\(name)" }
        case .command: nil
        }
    }
}
