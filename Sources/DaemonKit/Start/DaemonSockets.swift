import LocalSocket

/// Where the daemon gets its two sockets from.
struct DaemonSockets: Sendable {
    let admin: SocketSource
    let decryptor: SocketSource
}
