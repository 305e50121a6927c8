import Glibc
package import MerchantCore
package import Vocabulary

/// The file `audit.head.file`, to which the daemon appends audit heads. Each line contains a time and a head.
package struct HeadFile {
    /// How many bytes at the end of the file are searched for the last line. This is more than the number of zero bytes
    /// that a crash may leave after that line.
    private static let tailLength = 65_536

    /// The length of the longest line, in bytes.
    private static let longestLine = 256

    private let path: String

    package init(path: String) { self.path = path }

    package struct Line: Equatable, Sendable {
        package let at: Timestamp
        package let head: AuditHead
    }

    /// - Returns: the last complete line that contains a head; nil if the file is missing or empty, or if a crash
    ///   during the first append left no such line.
    /// - Throws: ``SettingsError`` if the file cannot be read, or if it has other content but no head near its end.
    package func lastLine() throws -> Line? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            guard errno == ENOENT else { throw failure("cannot be read") }
            return nil
        }
        defer { close(file) }
        guard let found = FileStatus(descriptor: file), found.kind == .regular else {
            throw SettingsError("'audit.head.file' names \(path), which is not a regular file; name a regular file")
        }
        var bytes = [UInt8](repeating: 0, count: min(Self.tailLength, found.size))
        guard pread(file, &bytes, bytes.count, off_t(found.size - bytes.count)) == bytes.count else {
            throw failure("cannot be read")
        }
        // Ignores an incomplete line at the end, which a crash may have left.
        let completeLines = bytes.lastIndex(of: UInt8(ascii: "\n")).map { bytes[..<$0] } ?? []
        if let last = completeLines.split(separator: UInt8(ascii: "\n")).reversed().lazy.compactMap(Self.line).first {
            return last
        }
        // A crash during the first append may leave zero bytes or an incomplete line. So a file without a head is no
        // error if it is not longer than a line and its complete lines contain only zero bytes.
        guard completeLines.allSatisfy({ $0 == 0 }), bytes.count <= Self.longestLine else {
            throw SettingsError(
                "'audit.head.file' names \(path), whose last \(bytes.count.counted("byte contains", "bytes contain")) no audit head, so another program or a disk fault has changed the file; find out which. If you move the file away, the daemon creates a new one, and the next start cannot detect an older copy of the database"
            )
        }
        return nil
    }

    private static func line(_ bytes: ArraySlice<UInt8>) -> Line? {
        let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        guard words.count == 2, let at = Timestamp(rfc3339: words[0]), let head = AuditHead(words[1]) else {
            return nil
        }
        return Line(at: at, head: head)
    }

    /// Appends a line with the head and the time `now`, and syncs the file.
    package func append(_ head: AuditHead, at now: Timestamp) throws {
        let isNew = access(path, F_OK) != 0
        let file = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard file >= 0 else { throw failure("cannot be opened") }
        defer { close(file) }
        // If a crash left an incomplete line at the end, writes a line feed first.
        var last: UInt8 = UInt8(ascii: "\n")
        if let found = FileStatus(descriptor: file), found.size > 0 { _ = pread(file, &last, 1, off_t(found.size - 1)) }
        let text = Array("\(last == UInt8(ascii: "\n") ? "" : "\n")\(now.rfc3339) \(head)\n".utf8)
        guard write(file, text, text.count) == text.count, fsync(file) == 0 else { throw failure("cannot be written") }
        if isNew { try syncDirectory() }
    }

    private func syncDirectory() throws {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("cannot be synced") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("cannot be synced") }
    }

    private func failure(_ what: String) -> SettingsError {
        SettingsError("'audit.head.file' names \(path), which \(what): \(PathAccess.lastErrorAndRemedy)")
    }
}
