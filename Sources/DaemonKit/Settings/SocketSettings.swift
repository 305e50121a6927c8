/// `sockets.admin`, `sockets.decryptor` or `sockets.issuer`: the path of a socket and which users may connect to it.
package struct SocketSettings: Sendable, Hashable {
    package let path: String
    package let mode: UInt32

    init(reading reader: SettingsReader, _ name: String, in directory: String, mode defaultMode: String) {
        path =
            reader.optional(
                "sockets.\(name).path", .text, whenUnset: "\(name).sock in the state directory",
                "The path of the \(name) socket.") ?? "\(directory)/\(name).sock"
        mode = reader.value(
            "sockets.\(name).mode", .fileMode, default: defaultMode,
            "The octal mode of the \(name) socket. The default is 0600, or 0666 if callers is set.")
        reader.showDefault(path, of: "sockets.\(name).path")
    }
}
