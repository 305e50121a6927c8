import Glibc
package import MerchantCore
import Secrets

/// The file of the master key, and the two files beside it during a rotation.
///
/// `master.key.next` holds the new key. It exists from before the first use of the new key until it is renamed to
/// `master.key`. `master.key.retired` is a second name of the old key's file. It exists from just before that renaming
/// until the old key is overwritten.
///
/// The methods get the identifier of the key that the database needs, and never overwrite the file of that key. Call
/// ``exchange(to:from:)`` only when every data key is sealed by the new master key.
package struct MasterKeyFile: Sendable {
    package let path: String
    /// The path of `master.key.next`.
    package var nextPath: String { path + ".next" }
    /// The path of `master.key.retired`.
    private var retiredPath: String { path + ".retired" }

    /// - Parameter path: the path of the master key. If it is a symbolic link, the path of its target is used.
    package init(_ path: String) {
        guard let target = realpath(path, nil) else {
            self.path = path
            return
        }
        self.path = String(cString: target)
        free(target)
    }

    /// Whether there is no file at ``path``. False for a symbolic link whose target is missing, because the target may
    /// be on a volume that is not mounted.
    package var isMissing: Bool {
        var found = stat()
        return lstat(path, &found) != 0 && errno == ENOENT
    }

    /// Generates a new key, and writes it to ``path``, where the file is missing. The file is on stable storage on
    /// return. Never overwrites a file.
    ///
    /// - Parameter needed: the identifier of the key that the database needs now.
    /// - Throws: `storeUnavailable`, for example if the file exists again or if `master.key.next` holds the needed key.
    package func createMissing(inPlaceOf needed: MasterKeyIdentifier) throws(MerchantError) -> MasterKey {
        try requireNotInNext(needed)
        return try MasterKey.create(at: path)
    }

    /// Whether `master.key.next` exists.
    package var hasNext: Bool { Self.exists(nextPath) }

    /// Generates the new key, and writes `master.key.next` to stable storage. Overwrites a `master.key.next` that
    /// remains from an interrupted rotation, unless the database needs the key in that file.
    ///
    /// - Parameter needed: the identifier of the key that the database needs now.
    /// - Throws: `storeUnavailable`, for example if `master.key.next` holds the needed key.
    package func createNext(whileInUse needed: MasterKeyIdentifier) throws(MerchantError) -> MasterKey {
        try requireNotInNext(needed)
        try requireReplaceable()
        try Self.erase(nextPath)
        return try MasterKey.create(at: nextPath)
    }

    /// Whether `master.key.next` exists and holds the key with this identifier.
    package func hasNext(_ needed: MasterKeyIdentifier) -> Bool {
        hasNext && (try? MasterKey.load(from: nextPath).identifier) == needed
    }

    /// Renames `master.key.next` to `master.key`, and overwrites the old key, unless its file is missing. Call this
    /// method again if it was interrupted.
    ///
    /// - Parameters:
    ///   - needed: the new key, from ``createNext(whileInUse:)``, which by now has sealed every data key.
    ///   - former: the master keys that may be overwritten, because they sealed only earlier data keys.
    /// - Throws: `storeUnavailable` if a file holds another key. In this case nothing is overwritten.
    package func exchange(
        to needed: MasterKeyIdentifier, from former: Set<MasterKeyIdentifier>
    ) throws(MerchantError) {
        if hasNext(needed), isMissing {
            // There is no old key to overwrite. Unlike rename(2), link(2) fails if the file exists again.
            guard link(nextPath, path) == 0, unlink(nextPath) == 0 else {
                throw MasterKey.failure("cannot be created", path)
            }
            try MasterKey.sync(directory: MasterKey.directory(of: path), path)
        } else if hasNext(needed) {
            let found = try MasterKey.load(from: path).identifier
            guard former.contains(found) else {
                throw MerchantError(
                    .storeUnavailable,
                    "the master key file \(path) holds the key \(found), which never sealed a data key of this database: move the file elsewhere, and put back the former file"
                )
            }
            // Give the old key's file a second name, so that it can be overwritten after the renaming has replaced its
            // first name.
            guard Self.areSameFile(path, retiredPath) || link(path, retiredPath) == 0 else {
                throw MasterKey.failure("cannot be linked", retiredPath)
            }
            guard rename(nextPath, path) == 0 else { throw MasterKey.failure("cannot be replaced", path) }
            try MasterKey.sync(directory: MasterKey.directory(of: path), path)
        }
        let found = try MasterKey.load(from: path).identifier
        guard found == needed else {
            throw MerchantError(
                .storeUnavailable,
                "the master key file \(path) holds the key \(found), expected \(needed), which seals the data keys of the database: put the key \(needed) there; nothing was overwritten"
            )
        }
        try Self.erase(retiredPath, unlessItIs: path)
    }

    /// Throws if `master.key.next` holds the key that the database needs now.
    private func requireNotInNext(_ needed: MasterKeyIdentifier) throws(MerchantError) {
        guard !hasNext(needed) else {
            throw MerchantError(
                .storeUnavailable,
                "the master key file \(nextPath) holds the key \(needed), which the database needs: move the file to \(path)"
            )
        }
    }

    /// Throws if this process could not overwrite the old key's file at the end of the rotation.
    private func requireReplaceable() throws(MerchantError) {
        var found = stat()
        guard stat(path, &found) == 0 else { throw MasterKey.failure("cannot be checked", path) }
        guard found.st_uid == geteuid() || geteuid() == 0 else {
            throw MerchantError(
                .storeUnavailable,
                "the master key file \(path) belongs to uid \(found.st_uid), expected \(geteuid()) (the daemon's): a rotation must overwrite the file"
            )
        }
    }

    private static func areSameFile(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_ino == second.st_ino
            && first.st_dev == second.st_dev
    }

    private static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Writes zeros over a file and removes it. The old blocks may remain on an SSD, or on a file system that writes
    /// changed data to other blocks.
    ///
    /// - Parameter other: a path whose file must be kept. If `path` is another name of that file, only the name `path`
    ///   is removed.
    private static func erase(_ path: String, unlessItIs other: String? = nil) throws(MerchantError) {
        var descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        // A master key may have mode 0400, which does not allow writing.
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
        guard fstat(descriptor, &found) == 0 else { throw MasterKey.failure("cannot be checked", path) }
        // If `other` cannot be checked, count it as the same file, so that a key in use is not overwritten.
        let mustKeepFile = other.map { stat($0, &kept) != 0 || kept.st_ino == found.st_ino } ?? false
        if !mustKeepFile {
            let zeros = [UInt8](repeating: 0, count: max(MasterKey.length, min(4096, Int(found.st_size))))
            guard pwrite(descriptor, zeros, zeros.count, 0) == zeros.count, fsync(descriptor) == 0 else {
                throw MasterKey.failure("cannot be overwritten", path)
            }
        }
        guard unlink(path) == 0 else { throw MasterKey.failure("cannot be removed", path) }
        try MasterKey.sync(directory: MasterKey.directory(of: path), path)
    }
}
