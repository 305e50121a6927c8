/// Where a server gets its listening socket from: the server creates it, or the daemon inherited it from systemd.
package struct SocketSource: Hashable, Sendable {
    package let path: String
    /// The mode of the socket's file. A user who may write to the file may connect.
    package let mode: UInt32
    private let inherited: InheritedSocket?

    /// - Parameters:
    ///   - path: at most ``UnixListener/longestPath`` bytes. A socket there on which no process listens is replaced.
    ///   - inherited: a socket that listens on this path; nil to create the socket.
    package init(path: String, mode: UInt32, inherited: InheritedSocket? = nil) {
        self.path = path
        self.mode = mode
        self.inherited = inherited
    }

    package var isInherited: Bool { inherited != nil }

    /// - Parameter backlog: how many connections may wait to be accepted.
    /// - Throws: ``SocketFault`` if the socket cannot be created.
    package func listen(backlog: CInt) throws(SocketFault) -> UnixListener {
        guard let inherited else { return try UnixListener.listen(path: path, mode: mode, backlog: backlog) }
        return UnixListener(inheriting: inherited, path: path, mode: mode, backlog: backlog)
    }
}
