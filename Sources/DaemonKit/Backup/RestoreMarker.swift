import Glibc

/// A file that exists while a restore moves files: from before it moves the first until after it moved the last. It
/// contains the path of the directory to which the restore moves the old database.
struct RestoreMarker {
    /// The suffix of the file until it is complete and gets its name.
    static let draft = ".new"

    let path: String

    /// - Returns: the directory to which the old database is moved; nil if no restore is in progress.
    func read() throws -> String? {
        guard access(path, F_OK) == 0 else { return nil }
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { throw Durable.failure("cannot read \(path)") }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = max(0, Glibc.read(file, &bytes, bytes.count))
        // A marker without a path still shows that a restore is in progress.
        return String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").first.map(String.init)
            ?? path + "-aside"
    }

    func write(_ aside: String) throws {
        let draft = path + Self.draft
        unlink(draft)
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Durable.failure("cannot create \(path)") }
        defer { close(file) }
        let text = Array("\(aside)\n".utf8)
        guard Glibc.write(file, text, text.count) == text.count, fsync(file) == 0, rename(draft, path) == 0 else {
            throw Durable.failure("cannot create \(path)")
        }
        try Durable.sync(directory)
    }

    func remove() throws {
        unlink(path)
        try Durable.sync(directory)
    }

    private var directory: String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "." }
}
