import Glibc
import KeyCustody
import MerchantCore
import SQLiteStore

/// Whether the next start will find the master keys that the database needs, where they come from files.
///
/// A file is read again only after it changed.
struct MasterKeyPresence {
    /// What tells that a file is another or was changed.
    private struct Trace: Equatable {
        let device, inode, size: UInt64
        let changed: [Int]
    }

    let settings: MasterKeySettings
    let store: SQLiteStore
    private var verified: [Trace?]?

    init(settings: MasterKeySettings, store: SQLiteStore) {
        self.settings = settings
        self.store = store
    }

    /// - Returns: what is wrong; nil where every key is found, or a program supplies them.
    mutating func fault() throws -> String? {
        let sources = MasterKeys(settings).sources
        let paths = sources.compactMap(\.path)
        guard paths.count == sources.count else { return nil }
        let traces = paths.map(Self.trace)
        guard traces != verified else { return nil }
        verified = nil
        var needed = Set(try store.dataKeys().filter { !$0.isRetired }.map(\.masterKey))
        var refusals: [String] = []
        for source in sources {
            do { needed.remove(try source.load().identifier) } catch { refusals.append(error.detail) }
        }
        guard let missing = needed.first else {
            verified = traces
            return nil
        }
        let found = refusals.isEmpty ? "it holds another key" : refusals.joined(separator: "; ")
        return "master key \(missing), which the database needs, is not in \(paths[0]): \(found)"
    }

    private static func trace(_ path: String) -> Trace? {
        var found = stat()
        guard stat(path, &found) == 0 else { return nil }
        return Trace(
            device: UInt64(found.st_dev), inode: UInt64(found.st_ino), size: UInt64(found.st_size),
            changed: [
                found.st_mtim.tv_sec, found.st_mtim.tv_nsec, found.st_ctim.tv_sec, found.st_ctim.tv_nsec,
            ])
    }
}

extension MasterKeySource {
    /// The file that it is read from; nil for a program, or a credential without a directory.
    fileprivate var path: String? {
        switch self {
        case .file(let path): path
        case .credential(let name, let directory): directory.map { "\($0)/\(name)" }
        case .command: nil
        }
    }
}
