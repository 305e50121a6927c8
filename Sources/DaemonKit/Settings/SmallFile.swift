import Glibc

/// Reads the configuration file, or a file that the settings name, up to a maximum size.
enum SmallFile {
    /// The largest size of such a file, in bytes.
    static let maximumSize = 1_048_576

    /// - Parameter name: how an error names the file, such as "the configuration file /etc/x.yaml".
    /// - Throws: ``SettingsError`` if the file cannot be read or is larger than ``maximumSize``.
    static func read(_ path: String, named name: String) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(name) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count >= 0 else { throw unreadable(name) }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= maximumSize else {
                throw SettingsError("\(name) is larger than \(maximumSize) bytes; name the right file")
            }
        }
    }

    private static func unreadable(_ name: String) -> SettingsError {
        SettingsError("\(name) cannot be read: \(PathAccess.lastErrorAndRemedy)")
    }
}
