import Glibc
package import MerchantCore
import Secrets

/// The master key's file while a rotation replaces it, and the two that stand beside it meanwhile.
///
/// `master.key.next` holds a fresh key from before its first use until it takes the old one's name; `master.key.retired` is the
/// old key under another name, from just before that until it is overwritten. Whichever key the database needs is told by its
/// identifier, and is neither replaced nor overwritten, whatever lies in these files: whoever calls ``exchange(to:)`` has seen
/// that nothing is sealed by another.
package struct MasterKeyFile: Sendable {
    package let path: String
    package var next: String { path + ".next" }
    private var retired: String { path + ".retired" }

    /// - Parameter path: a link's target is meant, where it is one.
    package init(_ path: String) {
        guard let target = realpath(path, nil) else {
            self.path = path
            return
        }
        self.path = String(cString: target)
        free(target)
    }

    package var hasNext: Bool { Self.isThere(next) }

    /// Draws a fresh key, durable on return. One that was left by a rotation which never began is overwritten.
    ///
    /// - Parameter needed: the key that the database needs now.
    package func makeNext(beside needed: MasterKeyIdentifier) throws(MerchantError) -> MasterKey {
        guard !hasNext(needed) else {
            throw MerchantError(
                .storeUnavailable,
                "the master key file \(next) holds the key \(needed), which the database needs, expected it at \(path): put it there"
            )
        }
        try requireReplaceable()
        try Self.erase(next)
        return try MasterKey.create(at: next)
    }

    /// Whether a rotation's fresh key is there, and is this one.
    package func hasNext(_ needed: MasterKeyIdentifier) -> Bool {
        hasNext && (try? MasterKey.load(from: next).identifier) == needed
    }

    /// Gives the fresh key the old one's name, and overwrites the old one. May be cut short anywhere and called again.
    ///
    /// - Parameters:
    ///   - needed: the fresh key, made by ``makeNext(beside:)``, which everything is sealed by.
    ///   - former: those that something was sealed by before, which may go.
    /// - Throws: `storeUnavailable` where another key is where one of these should be; nothing is overwritten then.
    package func exchange(
        to needed: MasterKeyIdentifier, from former: Set<MasterKeyIdentifier>
    ) throws(MerchantError) {
        if hasNext(needed) {
            let found = try MasterKey.load(from: path).identifier
            guard former.contains(found) else {
                throw MerchantError(
                    .storeUnavailable,
                    "the master key file \(path) holds the key \(found), which this database never needed, expected one of its own: keep it elsewhere, and put back the one that was here"
                )
            }
            // The same file under a second name, so that it can be found and overwritten after it has lost its own.
            guard Self.areOne(path, retired) || link(path, retired) == 0 else {
                throw MasterKey.failure("cannot be linked", retired)
            }
            guard rename(next, path) == 0 else { throw MasterKey.failure("cannot be replaced", path) }
            try MasterKey.sync(directory: MasterKey.directory(of: path), path)
        }
        let found = try MasterKey.load(from: path).identifier
        guard found == needed else {
            throw MerchantError(
                .storeUnavailable,
                "the master key file \(path) holds the key \(found), expected \(needed), which everything is sealed by: put it there; nothing was overwritten"
            )
        }
        try Self.erase(retired, unlessItIs: path)
    }

    /// The old key is to be overwritten in the end: better refused at the beginning.
    private func requireReplaceable() throws(MerchantError) {
        var found = stat()
        guard stat(path, &found) == 0 else { throw MasterKey.failure("cannot be examined", path) }
        guard found.st_uid == geteuid() || geteuid() == 0 else {
            throw MerchantError(
                .storeUnavailable,
                "the master key file \(path) belongs to uid \(found.st_uid), expected \(geteuid()), who is to overwrite it"
            )
        }
    }

    private static func areOne(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_ino == second.st_ino
            && first.st_dev == second.st_dev
    }

    private static func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Writes zeros over a file and removes it. File systems that write elsewhere, and flash, may keep the old blocks.
    ///
    /// - Parameter other: a file that is only to lose a name, should both be one.
    private static func erase(_ path: String, unlessItIs other: String? = nil) throws(MerchantError) {
        var descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        // Mode 0400 is as good for a master key as 0600.
        if descriptor < 0, errno == EACCES, chmod(path, 0o600) == 0 {
            descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        }
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw MasterKey.failure("cannot be opened", path) }
            return
        }
        defer { close(descriptor) }
        var found = stat()
        var kept = stat()
        guard fstat(descriptor, &found) == 0 else { throw MasterKey.failure("cannot be examined", path) }
        let isOther = other.map { stat($0, &kept) != 0 || kept.st_ino == found.st_ino } ?? false
        if !isOther {
            let zeros = [UInt8](repeating: 0, count: max(MasterKey.length, min(4096, Int(found.st_size))))
            guard pwrite(descriptor, zeros, zeros.count, 0) == zeros.count, fsync(descriptor) == 0 else {
                throw MasterKey.failure("cannot be overwritten", path)
            }
        }
        guard unlink(path) == 0 else { throw MasterKey.failure("cannot be removed", path) }
        try MasterKey.sync(directory: MasterKey.directory(of: path), path)
    }
}
