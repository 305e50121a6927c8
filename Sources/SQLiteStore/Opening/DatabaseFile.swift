import Glibc
import MerchantCore
import Synchronization
import Vocabulary

/// Creates the files of a database, or checks that only the daemon's user can access them, before SQLite opens them.
/// Also detects that a file was removed or replaced while it is open.
enum DatabaseFile {
    /// Identifies a file by its device and inode, which do not change when the file is renamed.
    struct Identity: Hashable, CustomStringConvertible {
        private let device: UInt64
        let inode: UInt64

        /// - Throws: ``MerchantError`` `storeUnavailable` if there is no such file or its status cannot be read.
        init(of path: String) throws(MerchantError) {
            guard let found = try Self.ifPresent(at: path) else { throw failure("cannot read the status of '\(path)'") }
            self = found
        }

        private init(_ status: stat) {
            device = UInt64(status.st_dev)
            inode = UInt64(status.st_ino)
        }

        /// - Returns: nil if there is no such file.
        /// - Throws: ``MerchantError`` `storeUnavailable` if the status of the path cannot be read, for example because
        ///   the daemon has no permission to enter the directory.
        static func ifPresent(at path: String) throws(MerchantError) -> Identity? {
            var found = stat()
            guard lstat(path, &found) == 0 else {
                guard errno != ENOENT, errno != ENOTDIR else { return nil }
                throw MerchantError(
                    .storeUnavailable,
                    "'\(path)' cannot be reached: \(String(cString: strerror(errno))). Check the owner and the mode of its directory and of each directory above; the daemon continues to write when it reaches the file again"
                )
            }
            return Identity(found)
        }

        var description: String { "inode \(inode) of device \(device)" }
    }

    /// Shows whether a program has written to a database: the inode, size and modification time of its file, and
    /// whether there is a write-ahead log. If two such values are equal, no program wrote to the file in the time
    /// between them.
    struct WriteState: Equatable {
        private let file: stat?
        /// Whether the database has a write-ahead log.
        let hasLog: Bool

        init(of path: String) {
            var found = stat()
            file = lstat(path, &found) == 0 ? found : nil
            hasLog = access(path + "-wal", F_OK) == 0
        }

        static func == (left: Self, right: Self) -> Bool {
            func fields(_ file: stat?) -> [Int] {
                file.map { [Int($0.st_ino), Int($0.st_size), $0.st_mtim.tv_sec, $0.st_mtim.tv_nsec] } ?? []
            }
            return left.hasLog == right.hasLog && fields(left.file) == fields(right.file)
        }
    }

    /// The error for an open file whose path now names another file or no file.
    struct ReplacedError: Error {
        let path: String
        /// A description of the file that the path names now.
        let found: String
        /// A description of the file that was opened.
        let expected: String
    }

    /// The paths of an open database and its write-ahead log, and the identities of the files that were opened.
    final class OpenedFiles: Sendable {
        let path: String
        private let database: Identity
        /// The write-ahead log; nil before ``recordWriteAheadLogIdentity()``. The descriptor is -1 if the log could not
        /// be opened. While any connection is open, SQLite may truncate the log, but does not replace its file.
        private let log = Mutex<(identity: Identity, file: CInt)?>(nil)

        init(of path: String) throws(MerchantError) {
            self.path = path
            database = try Identity(of: path)
        }

        /// Stores the identity of the write-ahead log, for ``requireOriginalFiles()``. Call this after SQLite has
        /// created the log.
        func recordWriteAheadLogIdentity() {
            let file = DatabaseFile.openLog(of: path)
            guard let identity = try? Identity(of: path + "-wal") else {
                if file >= 0 { close(file) }
                return
            }
            log.withLock { log in
                if let log, log.file >= 0 { close(log.file) }
                log = (identity, file)
            }
        }

        /// The generation of the write-ahead log: see ``DatabaseFile/logGeneration(of:)``. Runs at each commit, so it
        /// does not open the file again.
        var logGeneration: String? {
            log.withLock { log in
                guard let log, log.file >= 0 else { return DatabaseFile.logGeneration(of: path) }
                return DatabaseFile.logGeneration(ofFile: log.file)
            }
        }

        deinit { log.withLock { if let log = $0, log.file >= 0 { close(log.file) } } }

        /// Checks that the paths of the database and of its write-ahead log still name the opened files. SQLite would
        /// continue to write to a file that was moved or removed, and the next start would not find those changes.
        ///
        /// - Throws: ``ReplacedError`` if a path now names another file or no file; ``MerchantError``
        ///   `storeUnavailable` if a path cannot be reached.
        func requireOriginalFiles() throws {
            try Self.require(database, at: path)
            if let log = log.withLock({ $0?.identity }) { try Self.require(log, at: path + "-wal") }
        }

        /// The inode of the opened database file, if its path now names another file or no file; nil if the path still
        /// names the opened file, or cannot be reached. The write-ahead log is not checked.
        var inodeIfReplaced: UInt64? {
            do { return try Identity.ifPresent(at: path) == database ? nil : database.inode } catch { return nil }
        }

        private static func require(_ expected: Identity, at path: String) throws {
            let found = try Identity.ifPresent(at: path)
            guard found != expected else { return }
            throw DatabaseFile.ReplacedError(
                path: path, found: found?.description ?? "no file", expected: expected.description)
        }
    }

    /// Creates an empty file with mode 0600. If the file exists, checks the file, its write-ahead log and its shared
    /// memory: each must be a regular file of the daemon's user that no other user can access.
    ///
    /// SQLite later creates the write-ahead log and the shared memory with the mode of the database's file.
    ///
    /// - Throws: ``MerchantError`` `storeUnavailable` if the file cannot be created or fails the check, or if it is
    ///   missing or empty although its write-ahead log has content.
    static func createOrCheck(at path: String) throws(MerchantError) {
        try refuseLogWithoutFile(at: path)
        let file = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            guard errno == EEXIST else { throw failure("cannot create the database '\(path)'") }
            return try requirePrivate(at: path)
        }
        defer { close(file) }
        guard fchmod(file, 0o600) == 0, fsync(file) == 0 else {
            throw failure("cannot create the database '\(path)'")
        }
        try syncDirectory(of: path)
    }

    /// Checks a database's file, its write-ahead log and its shared memory, as ``createOrCheck(at:)`` does. Changes
    /// nothing.
    static func requirePrivate(at path: String) throws(MerchantError) {
        // Checks the files without opening them: closing any descriptor of the database would release the locks that
        // SQLite holds for this process.
        for name in [path, path + "-wal", path + "-shm"] { try requirePrivateIfPresent(name) }
    }

    /// Refuses a database whose write-ahead log has content, but whose file is missing or empty. SQLite would delete
    /// the log of an empty file, even on a connection that only reads, and with it changes that are not in the file
    /// yet.
    ///
    /// - Throws: ``MerchantError`` `storeUnavailable`.
    static func refuseLogWithoutFile(at path: String) throws(MerchantError) {
        let length = logLength(of: path)
        guard length > 0, !hasContent(path) else { return }
        throw MerchantError(
            .storeUnavailable,
            "the file '\(path)' is missing or empty, but its write-ahead log has \(length) bytes: stop the daemon and put back the file that belongs to the log; only if that file is lost, move the log away"
        )
    }

    /// Whether the file exists, and SQLite does not treat it as empty. SQLite treats a file of one byte as empty.
    static func hasContent(_ path: String) -> Bool {
        var found = stat()
        return stat(path, &found) == 0 && found.st_size > 1
    }

    /// Syncs the directory of a new file. Without this sync, a power failure may remove the file's name from the
    /// directory.
    static func syncDirectory(of path: String) throws(MerchantError) {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("cannot open the directory '\(directory)'") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("cannot sync the directory '\(directory)'") }
    }

    /// Identifies the content of a write-ahead log: the checkpoint sequence number and the two salts of the log's
    /// header, in hexadecimal. SQLite changes these fields when it starts to overwrite the log from the beginning.
    ///
    /// - Parameter path: the path of the database.
    /// - Returns: nil if there is no log or the log is empty.
    static func logGeneration(of path: String) -> String? {
        let file = openLog(of: path)
        defer { if file >= 0 { close(file) } }
        return logGeneration(ofFile: file)
    }

    /// - Parameter file: the descriptor of the log; negative if there is no log.
    private static func logGeneration(ofFile file: CInt) -> String? {
        var bytes = [UInt8](repeating: 0, count: 12)
        return pread(file, &bytes, bytes.count, 12) == bytes.count ? Hex.encode(bytes) : nil
    }

    /// Opens the write-ahead log for reading. SQLite holds its locks on other files, so closing the descriptor releases
    /// none of them.
    ///
    /// - Parameter path: the path of the database.
    /// - Returns: a descriptor that the caller must close; -1 if there is no log.
    private static func openLog(of path: String) -> CInt {
        open(path + "-wal", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    }

    /// The length of the write-ahead log's file in bytes; 0 if there is no log.
    ///
    /// - Parameter path: the path of the database.
    static func logLength(of path: String) -> Int {
        var found = stat()
        return lstat(path + "-wal", &found) == 0 ? Int(found.st_size) : 0
    }

    /// The checkpoint sequence number in the header of the write-ahead log. SQLite increases the number when it starts
    /// to overwrite the log from the beginning.
    ///
    /// - Parameter path: the path of the database.
    /// - Returns: nil if there is no log or the log is empty.
    static func logCheckpoints(of path: String) -> Int? {
        let file = openLog(of: path)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4)
        guard pread(file, &bytes, bytes.count, 12) == bytes.count else { return nil }
        return bytes.reduce(0) { $0 << 8 | Int($1) }
    }

    /// Checks that a file is a regular file of the daemon's user that no other user can access. Accepts a missing file.
    private static func requirePrivateIfPresent(_ path: String) throws(MerchantError) {
        var found = stat()
        guard lstat(path, &found) == 0 else {
            guard errno == ENOENT else { throw failure("cannot read the status of '\(path)'") }
            return
        }
        guard found.st_mode & S_IFMT == S_IFREG else {
            throw MerchantError(
                .storeUnavailable, "'\(path)' is not a regular file: check the path of the database")
        }
        guard found.st_uid == geteuid() else {
            throw MerchantError(
                .storeUnavailable,
                "'\(path)' belongs to uid \(found.st_uid), expected uid \(geteuid()): change the owner with 'chown'")
        }
        guard found.st_mode & 0o077 == 0 else {
            throw MerchantError(
                .storeUnavailable,
                "other users can access '\(path)': its mode is \(String(found.st_mode & 0o7777, radix: 8)), expected 600: change the mode with 'chmod 600'"
            )
        }
    }

    /// The error for a failed system call, with the system's error message.
    private static func failure(_ attempt: String) -> MerchantError {
        MerchantError(.storeUnavailable, "\(attempt): \(String(cString: strerror(errno)))")
    }
}
