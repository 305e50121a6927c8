import Glibc

/// Looks up users and groups of this machine by their names.
enum SystemAccount {
    /// The ID of a user, from getpwnam_r(3).
    ///
    /// - Parameter setting: the path of the setting, for the error.
    /// - Throws: ``SettingsError`` if the machine has no such user, or the lookup fails.
    static func uid(ofUser name: String, setting: String) throws(SettingsError) -> UInt32 {
        try number(name, kind: "user", setting) { buffer, size in
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            let code = getpwnam_r(name, &entry, buffer, size, &found)
            return (code, found == nil ? nil : entry.pw_uid)
        }
    }

    /// The ID of a group, from getgrnam_r(3).
    ///
    /// - Parameter setting: the path of the setting, for the error.
    /// - Throws: ``SettingsError`` if the machine has no such group, or the lookup fails.
    static func gid(ofGroup name: String, setting: String) throws(SettingsError) -> UInt32 {
        try number(name, kind: "group", setting) { buffer, size in
            var entry = group()
            var found: UnsafeMutablePointer<group>?
            let code = getgrnam_r(name, &entry, buffer, size, &found)
            return (code, found == nil ? nil : entry.gr_gid)
        }
    }

    /// The largest buffer for the texts of an entry, in bytes. A group with many members needs a large one.
    private static let largestBuffer = 16 << 20

    /// - Parameter find: calls the C function, and returns the result and the ID that the function found; nil if it
    ///   found none.
    private static func number(
        _ name: String, kind: String, _ setting: String,
        _ find: (UnsafeMutablePointer<CChar>, Int) -> (code: Int32, number: UInt32?)
    ) throws(SettingsError) -> UInt32 {
        var size = 4_096
        while true {
            let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            let (code, number) = find(buffer, size)
            buffer.deallocate()
            if let number { return number }
            switch code {
            case ERANGE where size < largestBuffer: size *= 4
            case EINTR: continue
            // The manual lists these codes for a name that was not found.
            case 0, ENOENT, ESRCH, EBADF, EPERM:
                throw SettingsError(
                    "'\(setting)' is '\(name)', but this machine has no such \(kind); create the \(kind), or correct the name"
                )
            default:
                throw SettingsError(
                    "'\(setting)' is '\(name)', but the \(kind) can't be looked up: \(String(cString: strerror(code)))")
            }
        }
    }
}
