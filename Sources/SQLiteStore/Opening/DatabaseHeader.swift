import Glibc

/// Reads the header of a database file.
enum DatabaseHeader {
    /// The offset of the file format write version in the header (SQLite, "Database File Format").
    private static let writeVersionPosition = 18
    /// The highest write version that SQLite knows: 2, for a database with a write-ahead log.
    private static let newestWriteVersion = 2

    /// Finds an unknown write version. SQLite does not report this fault when it only reads the file: it opens such a
    /// file as read-only.
    ///
    /// - Returns: nil if the header has no such fault or cannot be read.
    static func fault(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var version: UInt8 = 0
        guard pread(file, &version, 1, off_t(writeVersionPosition)) == 1, version > newestWriteVersion else {
            return nil
        }
        return "the file format write version in the header is \(version), expected at most \(newestWriteVersion)"
    }
}
