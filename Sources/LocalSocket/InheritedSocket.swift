import Glibc

/// A listening Unix socket that another process created and passed to this one: the socket activation of systemd, see
/// sd_listen_fds(3).
///
/// The other process keeps a copy of the descriptor. So while this process does not run, the kernel queues connections
/// instead of refusing them.
package struct InheritedSocket: Hashable, Sendable {
    /// Non-blocking. ``InheritedSockets`` has also made it close-on-exec.
    package let descriptor: CInt
    /// The name of the descriptor, `FileDescriptorName=` of the socket unit; "" if it has none.
    package let name: String
    /// The path to which the socket was bound.
    package let path: String

    /// - Throws: ``SocketFault`` unless the descriptor is a stream socket that listens on a path.
    package init(descriptor: CInt, name: String) throws(SocketFault) {
        let subject = "the inherited descriptor \(descriptor)\(name.isEmpty ? "" : " '\(name)'")"
        guard let address = UnixAddress(ofSocket: descriptor) else {
            throw SocketFault("\(subject) is not a Unix socket; pass only the daemon's sockets")
        }
        guard let path = address.path else {
            throw SocketFault("\(subject) is an abstract socket; set ListenStream= of the socket unit to a path")
        }
        guard Self.option(SO_TYPE, of: descriptor) == CInt(SOCK_STREAM.rawValue) else {
            throw SocketFault("\(subject) (\(path)) is not a stream socket; use ListenStream= in the socket unit")
        }
        guard Self.option(SO_ACCEPTCONN, of: descriptor) == 1 else {
            throw SocketFault(
                "\(subject) (\(path)) does not listen; use ListenStream= and Accept=no in the socket unit")
        }
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0 else {
            throw .system("\(subject) (\(path)) cannot be made non-blocking")
        }
        self.descriptor = descriptor
        self.name = name
        self.path = path
    }

    /// The value of a socket option; nil if it cannot be read.
    private static func option(_ option: CInt, of descriptor: CInt) -> CInt? {
        var value: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        return getsockopt(descriptor, SOL_SOCKET, option, &value, &length) == 0 ? value : nil
    }
}
