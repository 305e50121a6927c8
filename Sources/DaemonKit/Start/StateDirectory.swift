import Glibc

/// The directory that contains the lock file and, with SQLite, the database and the claims file. By default it also
/// contains the master key and the sockets.
enum StateDirectory {
    /// The longest absolute path, in bytes. SQLite accepts file paths of up to 512 bytes, and this path is only their
    /// beginning.
    static let longestPath = 460

    /// Checks whether ``prepare(_:)`` would succeed, without changing anything.
    ///
    /// - Returns: why ``prepare(_:)`` would fail; nil if it would succeed.
    static func problem(_ path: String) -> String? {
        guard !path.isEmpty else { return "'state-directory' is empty; set it to the path of a directory" }
        let length = absolutePath(path).utf8.count
        guard length <= longestPath else {
            return
                "the path of the state directory has \(length) bytes, expected at most \(longestPath); use a shorter path"
        }
        if let status = FileStatus(of: path, followsLinks: true) { return problem(path, status) }
        guard errno == ENOENT, FileStatus(of: path) == nil else {
            return "the state directory \(path) cannot be examined: \(PathAccess.lastError)"
        }
        // The start creates the directory, and the directories above it.
        var parent = PathAccess.directory(of: withoutFinalSlashes(path))
        while FileStatus(of: parent, followsLinks: true) == nil, errno == ENOENT, parent != ".", parent != "/" {
            parent = PathAccess.directory(of: parent)
        }
        return PathAccess.whyNothingCanBeCreated(in: parent).map {
            "the state directory \(path) cannot be created: \(parent) \($0)"
        }
    }

    /// Creates the directory with mode 0700 if it is missing. Refuses a directory that other users can access, or that
    /// does not belong to the user of this process.
    ///
    /// - Throws: ``SettingsError``.
    static func prepare(_ path: String) throws {
        try create(path)
        guard let status = FileStatus(of: path, followsLinks: true) else {
            throw SettingsError("the state directory \(path) cannot be examined: \(PathAccess.lastError)")
        }
        if let problem = problem(path, status) { throw SettingsError(problem) }
    }

    private static func problem(_ path: String, _ status: FileStatus) -> String? {
        guard status.kind == .directory else {
            return "the state directory \(path) is not a directory; set 'state-directory' to a directory"
        }
        guard status.uid == geteuid() else {
            return
                "the state directory \(path) belongs to uid \(status.uid), but this process runs as uid \(geteuid()); run it as uid \(status.uid), or, if the directory has the wrong owner, give it to the daemon's user with 'chown'"
        }
        guard status.mode & 0o077 == 0 else {
            return
                "the state directory \(path) has mode 0\(String(status.mode, radix: 8)), so other users can access it; run 'chmod 0700' on the directory"
        }
        guard PathAccess.allows(W_OK | X_OK, path) else {
            return
                "the daemon's user cannot create files in the state directory \(path): \(PathAccess.lastError); make the directory writable"
        }
        return nil
    }

    /// Whether two paths name the same directory.
    static func isSame(_ one: String, _ other: String) -> Bool {
        if let one = FileStatus(of: one, followsLinks: true), let other = FileStatus(of: other, followsLinks: true) {
            return one.isSameFile(as: other)
        }
        return withoutFinalSlashes(absolutePath(one)) == withoutFinalSlashes(absolutePath(other))
    }

    private static func withoutFinalSlashes(_ path: String) -> String {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path
    }

    static func absolutePath(_ path: String) -> String {
        guard !path.hasPrefix("/"), let current = getcwd(nil, 0) else { return path }
        defer { free(current) }
        return "\(String(cString: current))/\(path)"
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
