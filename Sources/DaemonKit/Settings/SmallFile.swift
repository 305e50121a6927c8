import Glibc

/// A file that the settings name.
enum SmallFile {
    /// The most one may hold, in bytes.
    static let largest = 1_048_576

    /// - Parameter name: what a refusal begins with, such as "the configuration file /etc/x.yaml".
    /// - Throws: ``SettingsError`` with the system's own word for what is wrong, or for a file that is too large.
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
            guard bytes.count <= largest else {
                throw SettingsError("\(name) is larger than \(largest) bytes, expected a small file")
            }
        }
    }

    private static func unreadable(_ name: String) -> SettingsError {
        SettingsError("\(name) cannot be read: \(String(cString: strerror(errno)))")
    }
}
