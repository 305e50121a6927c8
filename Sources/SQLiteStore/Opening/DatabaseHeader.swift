import Glibc

/// Reads the header of a database file.
enum DatabaseHeader {
    /// The offset of the file format write version in the header (SQLite, "Database File Format").
    private static let writeVersionPosition = 18
    /// The highest write version that SQLite knows: 2, for a database with a write-ahead log.
    private static let newestWriteVersion = 2

    /// The first bytes of each database: the text with a zero byte at its end.
    private static let beginning = Array("SQLite format 3\0".utf8)

    /// Finds an unknown write version in the header of an SQLite database. SQLite opens such a file as read-only, and
    /// does not report this fault while the file is only read.
    ///
    /// - Returns: nil if the header has no such fault or cannot be read.
    static func fault(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var header = [UInt8](repeating: 0, count: writeVersionPosition + 1)
        guard pread(file, &header, header.count, 0) == header.count, header.starts(with: beginning) else { return nil }
        let version = header[writeVersionPosition]
        guard version > newestWriteVersion else { return nil }
        return "the file format write version in the header is \(version), expected at most \(newestWriteVersion)"
    }
}
