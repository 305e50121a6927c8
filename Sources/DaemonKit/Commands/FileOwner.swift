import FoundationEssentials
import Glibc

/// Lets a command that root runs continue as the daemon's user. The command then has the access to files that the
/// daemon has, and its new files belong to the daemon's user.
enum FileOwner {
    /// If this process is root, switches to the owner of a file or directory, unless that is root too. Ignores a
    /// failure: the process then stays root.
    ///
    /// - Returns: whether this process runs as another user now.
    @discardableResult
    static func become(of path: String) -> Bool {
        guard geteuid() == 0, let found = FileStatus(of: path, followsLinks: true), found.uid != 0 else {
            return false
        }
        // Changes the real and saved user too. Otherwise a program that this process runs could become root again: some
        // shells set the effective user to the real one.
        if let account = getpwuid(found.uid) { _ = initgroups(account.pointee.pw_name, found.gid) }
        guard setgid(found.gid) == 0, setuid(found.uid) == 0 else { return false }
        // libpq searches for certificates in $HOME, and fails if it cannot enter root's home directory. Without HOME,
        // it uses the home directory of the effective user.
        unsetenv("HOME")
        return true
    }

    /// As ``become(of:)``, for a command that then reads files that may belong to root.
    ///
    /// - Throws: ``SettingsError`` if the new user has no permission to read one of `files`.
    @discardableResult
    static func become(of path: String, reading files: [String]) throws -> Bool {
        guard become(of: path) else { return false }
        for file in files where !PathAccess.allows(R_OK, file) && errno == EACCES {
            throw SettingsError(
                "\(file) cannot be read: \(PathAccess.lastError); root runs this command as uid \(geteuid()), the owner of \(path), so copy the file to a directory that this user can enter, and give the copy to this user with 'chown'"
            )
        }
        return true
    }
}

extension SettingsOptions {
    /// The settings, read as the owner of the state directory if this process is root. The process continues as that
    /// user.
    ///
    /// - Parameter files: further files that the command reads.
    /// - Throws: ``SettingsError``, also if that user has no permission to read one of `files`.
    func settingsAsDaemon(reading files: [String] = []) throws -> Settings {
        let variables = ProcessInfo.processInfo.environment
        let settings = try settings(variables)
        guard try FileOwner.become(of: settings.stateDirectory, reading: files) else { return settings }
        return try self.settings(variables)
    }
}
