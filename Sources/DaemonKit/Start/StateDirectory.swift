import Glibc

/// The directory that contains the database, the claims and the lock file. By default it also contains the master key
/// and the sockets.
enum StateDirectory {
    /// Creates the directory with mode 0700 if it is missing. Refuses a directory that other users can read or write.
    ///
    /// - Throws: ``SettingsError``.
    static func prepare(_ path: String) throws {
        try create(path)
        guard let status = FileStatus(of: path, followsLinks: true), status.kind == .directory else {
            throw SettingsError("the state directory \(path) is not a directory; set 'state-directory' to a directory")
        }
        guard status.uid == geteuid() else {
            throw SettingsError(
                "the state directory \(path) belongs to uid \(status.uid), but the daemon runs as uid \(geteuid()); run 'chown' on the directory"
            )
        }
        guard status.mode & 0o077 == 0 else {
            throw SettingsError(
                "the state directory \(path) has mode 0\(String(status.mode, radix: 8)), so other users can access it; run 'chmod 0700' on the directory"
            )
        }
    }

    private static func create(_ path: String) throws {
        guard access(path, F_OK) != 0 else { return }
        let parent = path.split(separator: "/", omittingEmptySubsequences: true).dropLast().joined(separator: "/")
        let parentPath = path.hasPrefix("/") ? "/\(parent)" : parent
        if !parent.isEmpty, access(parentPath, F_OK) != 0 { try create(parentPath) }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw SettingsError(
                "the state directory \(path) cannot be created: \(String(cString: strerror(errno))); create it with mode 0700, owned by the daemon's user"
            )
        }
    }
}
