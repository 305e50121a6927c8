import Glibc

/// Runs checks as the daemon's user.
enum OwnerOfStateDirectory {
    /// If this process is root, switches to the owner of the state directory, because the checks must find what the
    /// daemon's user would find. Ignores a failure: the checks then run as root.
    ///
    /// - Returns: whether this process runs as another user now.
    static func become(_ directory: String) -> Bool {
        guard geteuid() == 0, let found = FileStatus(of: directory, followsLinks: true), found.uid != 0 else {
            return false
        }
        _ = setegid(found.gid)
        return seteuid(found.uid) == 0
    }
}

extension SettingsOptions {
    /// The settings, read as the daemon's user if this process is root.
    func settingsAsDaemon() throws -> Settings {
        let settings = try settings()
        guard OwnerOfStateDirectory.become(settings.stateDirectory) else { return settings }
        return try self.settings()
    }
}
