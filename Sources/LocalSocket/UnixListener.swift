import Glibc

/// A listening Unix socket: created by this process, or inherited from systemd (``InheritedSocket``).
///
/// The file of a created socket has its final mode before another user can reach the file.
/// ``listen(path:mode:backlog:)`` binds the socket inside a new directory that only this process's user can enter, sets
/// the mode of the file there, and starts to listen. Then it moves the file to its path with rename(2), which also
/// replaces the socket file of a killed daemon. So as soon as a client finds the file at its path, the client can
/// connect. The umask could also set the mode, but the umask applies to all threads of the process.
package struct UnixListener: Sendable {
    /// The longest path of a socket, in bytes: `sun_path` has 108 bytes, and the last one is zero. See unix(7).
    package static let longestPath = 107

    /// The listening socket: non-blocking and close-on-exec. The server must close this descriptor.
    package let descriptor: CInt
    package let path: String
    /// Identifies the socket's file, so that ``remove()`` does not remove another file; nil if the socket is inherited.
    private let identity: FileIdentity?
    /// How many connections may wait to be accepted.
    let backlog: CInt

    private init(descriptor: CInt, path: String, identity: FileIdentity, backlog: CInt) {
        self.descriptor = descriptor
        self.path = path
        self.identity = identity
        self.backlog = backlog
    }

    /// - Parameters:
    ///   - socket: listens on `path`.
    ///   - mode: the mode of the socket's file. The mode stays as it is if this process may not change it, because the
    ///     file belongs to another user.
    package init(inheriting socket: InheritedSocket, path: String, mode: UInt32, backlog: CInt) {
        descriptor = socket.descriptor
        self.path = path
        self.backlog = backlog
        identity = nil
        _ = chmod(path, mode)
    }

    package var isInherited: Bool { identity == nil }

    /// - Parameters:
    ///   - mode: the mode of the socket's file. A user who may write to the file may connect.
    ///   - backlog: how many connections may wait to be accepted.
    /// - Throws: ``SocketFault`` if the path is too long, if the path names a file that is not a socket, if another
    ///   process listens there, or if a system call fails.
    package static func listen(path: String, mode: UInt32, backlog: CInt) throws(SocketFault) -> UnixListener {
        try requireUsable(path)
        let directory = try PrivateDirectory(beside: path)
        defer { directory.remove() }
        let descriptor = socket(
            AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw .system("cannot create a socket for \(path)") }
        do throws(SocketFault) {
            // Uses a short path through the directory's descriptor, because the directory's own path could be too long
            // for `sun_path`.
            try bind(descriptor, to: "/proc/self/fd/\(directory.descriptor)/\(PrivateDirectory.socketName)")
            guard fchmodat(directory.descriptor, PrivateDirectory.socketName, mode, 0) == 0 else {
                throw SocketFault.system("cannot set the mode of \(path)")
            }
            guard Glibc.listen(descriptor, backlog) == 0 else { throw SocketFault.system("cannot listen on \(path)") }
            let identity = try directory.socketIdentity()
            guard renameat(directory.descriptor, PrivateDirectory.socketName, AT_FDCWD, path) == 0 else {
                throw SocketFault.system("cannot move the new socket to \(path)")
            }
            return UnixListener(descriptor: descriptor, path: path, identity: identity, backlog: backlog)
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Removes the socket's file, unless another process has replaced it. Keeps the file of an inherited socket, which
    /// belongs to systemd.
    package func remove() {
        if let identity, FileIdentity(at: path) == identity { unlink(path) }
    }

    /// Sets the length of the kernel's queue again. Call this after NIO has taken over the descriptor, because NIO then
    /// reduces the length to 128.
    package func restoreBacklog() { _ = Glibc.listen(descriptor, backlog) }

    /// Checks the length of a path, and the file that exists there. Does not check the directory, nor whether another
    /// process listens on the path.
    ///
    /// - Returns: why no socket can be created at the path; nil if these checks find no reason.
    package static func problem(withPath path: String) -> String? {
        let length = path.utf8.count
        guard (1...longestPath).contains(length) else {
            return "the socket path has \(length) bytes, expected 1 to \(longestPath): \(path)"
        }
        guard !path.utf8.contains(0) else { return "the socket path contains a zero byte" }
        guard !path.hasSuffix("/") else { return "\(path) is a directory, expected the path of a socket" }
        var found = stat()
        if lstat(path, &found) == 0, found.st_mode & S_IFMT != S_IFSOCK {
            return "\(path) exists and is not a socket: remove that file, or choose another path"
        }
        return nil
    }

    /// Throws if ``problem(withPath:)`` finds a problem, or if another process listens on the path.
    private static func requireUsable(_ path: String) throws(SocketFault) {
        if let problem = problem(withPath: path) { throw SocketFault(problem) }
        guard !isListenedOn(path) else {
            throw SocketFault("another process listens on \(path): give each daemon its own path")
        }
    }

    /// Whether a process listens on the socket at a path. A killed daemon leaves its socket file, but the kernel
    /// refuses connections to that file. Also true if this cannot be found out, for
    /// example because a permission is missing.
    package static func isListenedOn(_ path: String) -> Bool { isInUse(path, type: SOCK_STREAM) }

    /// Whether a process has the socket at a path open. As ``isListenedOn(_:)``, but nothing is connected: a connection
    /// would make systemd start the daemon for which it holds the socket. The kernel refuses to connect a datagram
    /// socket to a stream socket: with EPROTOTYPE if a process has the stream socket open, and with ECONNREFUSED if no
    /// process has.
    package static func isOpen(_ path: String) -> Bool { isInUse(path, type: SOCK_DGRAM) }

    private static func isInUse(_ path: String, type: __socket_type) -> Bool {
        guard let address = UnixAddress(path: path) else { return false }
        let descriptor = socket(AF_UNIX, CInt(type.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let result = address.withSocketAddress { connect(descriptor, $0, $1) }
        // After any other error, a process may listen. Examples are EAGAIN, if the queue of connections is full, and
        // EACCES, if the socket belongs to another user.
        return result == 0 || ![ECONNREFUSED, ENOENT, ENOTDIR].contains(errno)
    }

    private static func bind(_ descriptor: CInt, to path: String) throws(SocketFault) {
        guard let address = UnixAddress(path: path) else { throw SocketFault("\(path) is not the path of a socket") }
        let result = address.withSocketAddress { Glibc.bind(descriptor, $0, $1) }
        guard result == 0 else { throw .system("cannot bind a socket at \(path)") }
    }
}

/// Identifies a file, to detect that another file has replaced it at its path.
struct FileIdentity: Hashable, Sendable {
    let device: dev_t
    let inode: ino_t

    init(_ found: stat) {
        device = found.st_dev
        inode = found.st_ino
    }

    init?(at path: String) {
        var found = stat()
        guard lstat(path, &found) == 0 else { return nil }
        self.init(found)
    }
}

extension SocketFault {
    /// The error for a failed system call, with the system's error message.
    static func system(_ attempt: String) -> SocketFault {
        SocketFault("\(attempt): \(String(cString: strerror(errno)))")
    }
}
