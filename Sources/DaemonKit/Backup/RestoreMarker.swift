import Glibc

/// A file that exists while a restore moves database files, so that a start detects an interrupted restore. The file
/// contains the path of the directory to which the restore moves the old database.
struct RestoreMarker {
    /// The suffix of the file's temporary name, which it has until it is complete.
    static let draftSuffix = ".new"

    let path: String

    /// - Returns: the directory to which the old database is moved; nil if no restore is in progress.
    func read() throws -> String? {
        guard access(path, F_OK) == 0 else { return nil }
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { throw StableStorage.systemError("cannot read \(path)") }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = max(0, Glibc.read(file, &bytes, bytes.count))
        // An empty marker still shows that a restore is in progress. Only the name of the directory is lost, so another
        // name is used.
        return String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").first.map(String.init)
            ?? path + "-aside"
    }

    func write(_ oldDatabaseDirectory: String) throws {
        let draft = path + Self.draftSuffix
        unlink(draft)
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StableStorage.systemError("cannot create \(path)") }
        defer { close(file) }
        let text = Array("\(oldDatabaseDirectory)\n".utf8)
        guard Glibc.write(file, text, text.count) == text.count, fsync(file) == 0, rename(draft, path) == 0 else {
            throw StableStorage.systemError("cannot create \(path)")
        }
        try StableStorage.sync(directory)
    }

    func remove() throws {
        unlink(path)
        try StableStorage.sync(directory)
    }

    private var directory: String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "." }
}
