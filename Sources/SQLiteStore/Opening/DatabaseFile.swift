import Glibc
import MerchantCore
import Synchronization
import Vocabulary

/// Prepares the database's file for SQLite: only the daemon's user may use it, from its creation on.
enum DatabaseFile {
    /// Identifies a file independently of its name.
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

    /// Two equal values mean that the file was not written to between them.
    struct WriteState: Equatable {
        private let file: stat?
        let hasLog: Bool

        init(of path: String) {
            var found = stat()
            file = lstat(path, &found) == 0 ? found : nil
            hasLog = access(path + "-wal", F_OK) == 0
        }

        static func == (left: Self, right: Self) -> Bool {
            func words(_ file: stat?) -> [Int] {
                file.map { [Int($0.st_ino), Int($0.st_size), $0.st_mtim.tv_sec, $0.st_mtim.tv_nsec] } ?? []
            }
            return left.hasLog == right.hasLog && words(left.file) == words(right.file)
        }
    }

    /// The file of an open database was removed or replaced.
    struct Replaced: Error {
        let path: String
        let found: String
        let expected: String
    }

    /// The paths of an open database and its write-ahead log, and the identities of the files that were opened.
    final class Place: Sendable {
        let path: String
        private let opened: Identity
        /// SQLite keeps the same file while any connection is open, also when it empties it.
        private let log = Mutex<Identity?>(nil)

        init(of path: String) throws(MerchantError) {
            self.path = path
            opened = try Identity(of: path)
        }

        /// Call it when SQLite has created the log.
        func rememberLog() {
            let found = try? Identity(of: path + "-wal")
            log.withLock { $0 = found }
        }

        /// SQLite continues to write to a file that was moved or removed; the next start would not find those changes.
        ///
        /// - Throws: if a path names another file now, or none.
        func require() throws(DatabaseFile.Replaced) {
            try Self.require(opened, at: path)
            if let log = log.withLock({ $0 }) { try Self.require(log, at: path + "-wal") }
        }

        /// The inode of the opened file if its path names another file or none now; nil if it is in its place.
        var replaced: UInt64? { (try? Identity(of: path)) == opened ? nil : opened.inode }

        private static func require(_ expected: Identity, at path: String) throws(DatabaseFile.Replaced) {
            let found = try? Identity(of: path)
            guard found != expected else { return }
            throw DatabaseFile.Replaced(
                path: path, found: found?.description ?? "no file", expected: expected.description)
        }
    }

    /// Creates the file, empty and with mode 0600, or checks that an existing one belongs only to the daemon's user.
    ///
    /// SQLite gives the write-ahead log and the shared memory the mode of the database's file.
    ///
    /// - Throws: ``MerchantError`` `storeUnavailable`, saying what was found and what was expected.
    static func prepare(at path: String) throws(MerchantError) {
        let file = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            guard errno == EEXIST else { throw failure("cannot create the database '\(path)'") }
            // Checks by name: closing a descriptor of an open database would release SQLite's locks on it.
            for name in [path, path + "-wal", path + "-shm"] { try checkOwnership(of: name) }
            return
        }
        defer { close(file) }
        guard fchmod(file, 0o600) == 0, fsync(file) == 0 else {
            throw failure("cannot create the database '\(path)'")
        }
        try syncDirectory(of: path)
    }

    /// After a power failure a new file keeps its name only if its directory was synced.
    static func syncDirectory(of path: String) throws(MerchantError) {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("cannot open the directory '\(directory)'") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("cannot sync the directory '\(directory)'") }
    }

    /// Identifies the contents of a write-ahead log until SQLite restarts it: the salts in its header and their number.
    ///
    /// - Returns: nil without a log, or with an empty one.
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
