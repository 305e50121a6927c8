import Glibc
package import MerchantCore
import Secrets

/// The master key's file while it is replaced, and the two that stand beside it meanwhile.
///
/// `master.key.next` holds a fresh key from before its first use until it takes the old one's name; `master.key.old` is the old
/// key under another name, from just before that until it is overwritten. A key that data keys still need is never
/// overwritten: whoever calls ``exchange()`` has seen that nothing is sealed by the old one.
package struct MasterKeyFile: Sendable {
    package let path: String
    package var next: String { path + ".next" }
    private var old: String { path + ".old" }

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
    package func makeNext() throws(MerchantError) -> MasterKey {
        try Self.erase(next)
        return try MasterKey.create(at: next)
    }

    /// Gives the fresh key the old one's name, and overwrites the old one. May be cut short anywhere and called again.
    package func exchange() throws(MerchantError) {
        if Self.isThere(next) {
            // The same file under a second name, so that it can be found and overwritten after it has lost its own.
            guard Self.isThere(old) || link(path, old) == 0 else { throw MasterKey.failure("cannot be linked", old) }
            guard rename(next, path) == 0 else { throw MasterKey.failure("cannot be replaced", path) }
            try MasterKey.sync(directory: MasterKey.directory(of: path), path)
        }
        try Self.erase(old, unlessItIs: path)
    }

    private static func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Writes zeros over a file and removes it. File systems that write elsewhere, and flash, may keep the old blocks.
    ///
    /// - Parameter other: a file that is only to lose a name, should both be one.
    private static func erase(_ path: String, unlessItIs other: String? = nil) throws(MerchantError) {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
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
