import Glibc

/// Reads the header of a database file.
enum DatabaseHeader {
    /// The position of the file format's version for writing, according to SQLite's documentation of its file format.
    private static let writeVersionPosition = 18
    /// The newest version that SQLite knows: with a write-ahead log.
    private static let newestWriteVersion = 2

    /// A fault that SQLite does not report when it only reads the file: it opens a file with an unknown version for
    /// writing as a file that must not be written.
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
        return "the header names the file format version \(version) for writing, expected at most \(newestWriteVersion)"
    }
}
