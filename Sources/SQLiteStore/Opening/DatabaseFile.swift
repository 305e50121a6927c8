import Glibc
import MerchantCore
import Synchronization
import Vocabulary

/// The database's file before SQLite sees it: ours alone from its first moment.
enum DatabaseFile {
    /// Which file a name leads to.
    struct Identity: Hashable, CustomStringConvertible {
        private let device: UInt64
        let inode: UInt64

        /// - Throws: ``MerchantError`` `storeUnavailable` where the name leads to none.
        init(of path: String) throws(MerchantError) {
            var found = stat()
            guard lstat(path, &found) == 0 else { throw failure("cannot look at '\(path)'") }
            device = UInt64(found.st_dev)
            inode = UInt64(found.st_ino)
        }

        var description: String { "inode \(inode) of device \(device)" }
    }

    /// What tells whether a file was written to between two looks.
    struct Moment: Equatable {
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

    /// Where an open database's file and its write-ahead log stand, and which files they were when it was opened.
    final class Place: Sendable {
        let path: String
        private let opened: Identity
        /// SQLite keeps the same file, however often it empties it, for as long as anything has the database open.
        private let log = Mutex<Identity?>(nil)

        init(of path: String) throws(MerchantError) {
            self.path = path
            opened = try Identity(of: path)
        }

        /// To be called when SQLite has made the log.
        func rememberLog() {
            let found = try? Identity(of: path + "-wal")
            log.withLock { $0 = found }
        }

        /// SQLite goes on writing into a file whose name was taken from it: gone at the next start, with all that was
        /// answered meanwhile.
        ///
        /// - Throws: where a name leads to another file by now, or to none.
        func require() throws(StoreFailure.Replaced) {
            try Self.require(opened, at: path)
            if let log = log.withLock({ $0 }) { try Self.require(log, at: path + "-wal") }
        }

        /// The inode of the database's file, where it is not in its place: the log beside it is this file's, and no other's.
        var replaced: UInt64? { (try? Identity(of: path)) == opened ? nil : opened.inode }

        private static func require(_ expected: Identity, at path: String) throws(StoreFailure.Replaced) {
            let found = try? Identity(of: path)
            guard found != expected else { return }
            throw StoreFailure.Replaced(
                path: path, found: found?.description ?? "no file", expected: expected.description)
        }
    }

    /// Makes the file, empty and with mode 0600, or looks whether the one that is there is ours alone.
    ///
    /// SQLite gives the write-ahead log and the shared memory the mode of the database's file.
    ///
    /// - Throws: ``MerchantError`` `storeUnavailable`, saying what was found and what was expected.
    static func prepare(at path: String) throws(MerchantError) {
        let file = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            guard errno == EEXIST else { throw failure("cannot make the database '\(path)'") }
            // Only asked by name: closing a descriptor of an open database would give up SQLite's locks on it.
            for name in [path, path + "-wal", path + "-shm"] { try judge(name) }
            return
        }
        defer { close(file) }
        guard fchmod(file, 0o600) == 0, fsync(file) == 0 else {
            throw failure("cannot make the database '\(path)'")
        }
        try syncDirectory(of: path)
    }

    /// The name of a new file survives a loss of power only once its directory is on stable storage.
    static func syncDirectory(of path: String) throws(MerchantError) {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("cannot open the directory '\(directory)'") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("cannot sync the directory '\(directory)'") }
    }

    /// What tells a write-ahead log from the one it was before SQLite began it anew: the salts in its header, and their number.
    ///
    /// - Returns: nil where there is no log, or none with content.
    static func logGeneration(of path: String) -> String? {
        let file = open(path + "-wal", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        // SQLite keeps no lock on this file that closing it could give up.
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 12)
        return pread(file, &bytes, bytes.count, 12) == bytes.count ? Hex.encode(bytes) : nil
    }

    private static func judge(_ path: String) throws(MerchantError) {
        var found = stat()
        guard lstat(path, &found) == 0 else {
            guard errno == ENOENT else { throw failure("cannot look at '\(path)'") }
            return
        }
        guard found.st_mode & S_IFMT == S_IFREG else {
            throw MerchantError(.storeUnavailable, "'\(path)' is a link or no file at all, expected a regular file")
        }
        guard found.st_uid == geteuid() else {
            throw MerchantError(
                .storeUnavailable, "'\(path)' belongs to uid \(found.st_uid), expected uid \(geteuid()): chown it")
        }
        guard found.st_mode & 0o077 == 0 else {
            throw MerchantError(
                .storeUnavailable,
                "others may use '\(path)': its mode is \(String(found.st_mode & 0o7777, radix: 8)), expected 600: chmod 600 it"
            )
        }
    }

    private static func failure(_ what: String) -> MerchantError {
        MerchantError(.storeUnavailable, "\(what): \(String(cString: strerror(errno)))")
    }
}
