import Glibc
import MerchantCore
import Synchronization
import Vocabulary

/// Creates or checks the files of a database before SQLite opens them, so that only the daemon's user can access them,
/// and detects that an open file was removed or replaced.
enum DatabaseFile {
    /// Identifies a file by its device and inode, which do not change when the file is renamed.
    struct Identity: Hashable, CustomStringConvertible {
        private let device: UInt64
        let inode: UInt64

        /// - Throws: ``MerchantError`` `storeUnavailable` if there is no file with this name.
        init(of path: String) throws(MerchantError) {
            var found = stat()
            guard lstat(path, &found) == 0 else { throw failure("cannot read the status of '\(path)'") }
            device = UInt64(found.st_dev)
            inode = UInt64(found.st_ino)
        }

        var description: String { "inode \(inode) of device \(device)" }
    }

    /// Detects writes to a database's file: if two values of one path are equal, the file was not changed between them.
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

    /// The error if a file of an open database was removed or replaced.
    struct Replaced: Error {
        let path: String
        let found: String
        let expected: String
    }

    /// The paths of an open database and its write-ahead log, and the identities of the files that were opened.
    final class Place: Sendable {
        let path: String
        private let opened: Identity
        /// The identity of the write-ahead log; nil before ``rememberLog()``. SQLite uses one log file while any
        /// connection is open, even if it truncates the log.
        private let log = Mutex<Identity?>(nil)

        init(of path: String) throws(MerchantError) {
            self.path = path
            opened = try Identity(of: path)
        }

        /// Stores the identity of the write-ahead log. Call it after SQLite has created the log.
        func rememberLog() {
            let found = try? Identity(of: path + "-wal")
            log.withLock { $0 = found }
        }

        /// Checks that the paths of the database and of its write-ahead log still name the opened files. SQLite
        /// continues to write to a file that was moved or removed, and the next start would not find those changes.
        ///
        /// - Throws: if a path names another file now, or none.
        func require() throws(DatabaseFile.Replaced) {
            try Self.require(opened, at: path)
            if let log = log.withLock({ $0 }) { try Self.require(log, at: path + "-wal") }
        }

        /// nil if the database's path names the opened file. Otherwise the inode of the opened file.
        var replaced: UInt64? { (try? Identity(of: path)) == opened ? nil : opened.inode }

        private static func require(_ expected: Identity, at path: String) throws(DatabaseFile.Replaced) {
            let found = try? Identity(of: path)
            guard found != expected else { return }
            throw DatabaseFile.Replaced(
                path: path, found: found?.description ?? "no file", expected: expected.description)
        }
    }

    /// Creates an empty file with mode 0600. If the file exists, checks that it, its write-ahead log and its shared
    /// memory are regular files of the daemon's user that no other user can access.
    ///
    /// SQLite later creates the write-ahead log and the shared memory with the mode of the database's file.
    ///
    /// - Throws: ``MerchantError`` `storeUnavailable` if the file cannot be created or fails the check.
    static func prepare(at path: String) throws(MerchantError) {
        let file = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            guard errno == EEXIST else { throw failure("cannot create the database '\(path)'") }
            // Does not open the files: if this process has the database open, closing another descriptor of it would
            // release SQLite's locks.
            for name in [path, path + "-wal", path + "-shm"] { try checkOwnership(of: name) }
            return
        }
        defer { close(file) }
        guard fchmod(file, 0o600) == 0, fsync(file) == 0 else {
            throw failure("cannot create the database '\(path)'")
        }
        try syncDirectory(of: path)
    }

    /// Syncs the directory of a new file: otherwise the file may have no name after a power failure.
    static func syncDirectory(of path: String) throws(MerchantError) {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("cannot open the directory '\(directory)'") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("cannot sync the directory '\(directory)'") }
    }

    /// Identifies the content of a write-ahead log by its checkpoint sequence number and two salts, in hexadecimal.
    /// SQLite changes these fields of the log's header when it starts to overwrite the log from the beginning.
    ///
    /// - Returns: nil if there is no log or the log is empty.
    static func logGeneration(of path: String) -> String? {
        let file = open(path + "-wal", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        // SQLite has no lock on this file, so closing the descriptor releases none.
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 12)
        return pread(file, &bytes, bytes.count, 12) == bytes.count ? Hex.encode(bytes) : nil
    }

    private static func checkOwnership(of path: String) throws(MerchantError) {
        var found = stat()
        guard lstat(path, &found) == 0 else {
            guard errno == ENOENT else { throw failure("cannot read the status of '\(path)'") }
            return
        }
        guard found.st_mode & S_IFMT == S_IFREG else {
            throw MerchantError(.storeUnavailable, "'\(path)' is not a regular file, expected one")
        }
        guard found.st_uid == geteuid() else {
            throw MerchantError(
                .storeUnavailable,
                "'\(path)' belongs to uid \(found.st_uid), expected uid \(geteuid()): run 'chown' on it")
        }
        guard found.st_mode & 0o077 == 0 else {
            throw MerchantError(
                .storeUnavailable,
                "other users can access '\(path)': its mode is \(String(found.st_mode & 0o7777, radix: 8)), expected 600: run 'chmod 600' on it"
            )
        }
    }

    private static func failure(_ what: String) -> MerchantError {
        MerchantError(.storeUnavailable, "\(what): \(String(cString: strerror(errno)))")
    }
}
