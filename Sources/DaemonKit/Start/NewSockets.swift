/// Detects that the daemon listens on its sockets, without a connection to them.
///
/// A connection of the daemon to itself would count as one of a caller, and if the daemon's own user has no permit, as one
/// of a caller without a permit. `UnixListener` puts the file of a socket into its place when it listens. So a new file
/// there is enough.
package struct NewSockets: Sendable {
    private let paths: [String]
    /// The files that existed when this value was created. A killed daemon leaves such files.
    private let former: [FileStatus?]

    /// Create this value before the daemon listens.
    package init(_ paths: [String]) {
        self.paths = paths
        former = paths.map { FileStatus(of: $0) }
    }

    /// Whether the daemon listens on all sockets.
    package var areListening: Bool {
        zip(paths, former).allSatisfy { path, former in
            guard let found = FileStatus(of: path), found.kind == .socket else { return false }
            return found != former
        }
    }
}
