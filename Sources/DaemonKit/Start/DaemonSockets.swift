import LocalSocket

/// Where the daemon gets its sockets from.
struct DaemonSockets: Sendable {
    let admin: SocketSource
    let decryptor: SocketSource
    /// nil if the settings define no in-app provisioning.
    let issuer: SocketSource?
}
