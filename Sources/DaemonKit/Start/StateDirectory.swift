import Glibc

/// The directory that holds database, lock and, for one user, the master key and the sockets.
enum StateDirectory {
    /// Makes the directory where it is missing (mode 0700), and refuses one that others can read or write.
    ///
    /// - Throws: ``SettingsError`` naming owner and mode found and expected.
    static func prepare(_ path: String) throws {
        try make(path)
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw SettingsError("the state directory \(path) is not a directory")
        }
        guard status.st_uid == geteuid() else {
            throw SettingsError(
                "the state directory \(path) belongs to uid \(status.st_uid), expected \(geteuid()), who runs the daemon"
            )
        }
        guard status.st_mode & 0o077 == 0 else {
            throw SettingsError(
                "the state directory \(path) has mode 0\(String(status.st_mode & 0o7777, radix: 8)), expected 0700: others must neither read nor write it"
            )
        }
    }

    private static func make(_ path: String) throws {
        guard access(path, F_OK) != 0 else { return }
        let parent = path.split(separator: "/", omittingEmptySubsequences: true).dropLast().joined(separator: "/")
        let parentPath = path.hasPrefix("/") ? "/\(parent)" : parent
        if !parent.isEmpty, access(parentPath, F_OK) != 0 { try make(parentPath) }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw SettingsError("the state directory \(path) cannot be made: \(String(cString: strerror(errno)))")
        }
    }
}
