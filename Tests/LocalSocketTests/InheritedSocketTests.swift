import Foundation
import Glibc
import LocalSocket
import Testing

/// A class, so that its deinitializer closes the descriptors and removes the directory.
@Suite final class InheritedSocketTests {
    private let directory: String
    private var descriptors: [CInt] = []

    init() throws {
        directory = "/tmp/inherited-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// A socket that is bound to a path with bind(2), as systemd does it.
    private func bound(_ name: String, type: __socket_type = SOCK_STREAM, listens: Bool = true) throws -> CInt {
        let descriptor = socket(AF_UNIX, CInt(type.rawValue), 0)
        descriptors.append(descriptor)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: "\(directory)/\(name)".utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
        if listens { try #require(listen(descriptor, 1) == 0) }
        return descriptor
    }

    @Test func `a listening stream socket has the path to which it was bound, and is non-blocking`() throws {
        let descriptor = try bound("a.sock")
        let socket = try InheritedSocket(descriptor: descriptor, name: "admin")
        #expect(socket.path == "\(directory)/a.sock")
        #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
    }

    @Test func `a descriptor of another kind is refused`() throws {
        let file = open("/dev/null", O_RDONLY)
        descriptors.append(file)
        let network = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        descriptors.append(network)
        for (descriptor, reason) in [
            (file, "is not a Unix socket"), (network, "is not a Unix socket"), (-1, "is not a Unix socket"),
            (try bound("d.sock", type: SOCK_DGRAM, listens: false), "is not a stream socket"),
            (try bound("b.sock", listens: false), "does not listen"),
        ] {
            let fault = #expect(throws: SocketFault.self) { try InheritedSocket(descriptor: descriptor, name: "x") }
            #expect(fault?.description.contains(reason) == true, "\(fault?.description ?? "")")
        }
    }

    @Test func `variables for another process, and a number of descriptors that cannot be right, give no socket`() {
        let other = InheritedSockets(["LISTEN_PID": "1", "LISTEN_FDS": "2"], process: 2)
        #expect(other == .none)
        #expect(InheritedSockets(["LISTEN_FDS": "2"], process: 2) == .none)
        for count in ["-1", "x", "", "1000"] {
            let sockets = InheritedSockets(["LISTEN_PID": "2", "LISTEN_FDS": count], process: 2)
            #expect(sockets.sockets.isEmpty && sockets.problems.count == 1, "\(count)")
        }
    }

    @Test func `the daemon sets the mode of an inherited socket's file, and never removes the file`() throws {
        let path = "\(directory)/a.sock"
        let socket = try InheritedSocket(descriptor: bound("a.sock"), name: "")
        let listener = try SocketSource(path: path, mode: 0o640, inherited: socket).listen(backlog: 16)
        #expect(listener.isInherited && listener.descriptor == socket.descriptor)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o640)
        listener.remove()
        #expect(UnixListener.isListenedOn(path))
    }

    @Test func `the length of the queue can be set again after another user of the descriptor reduced it`() throws {
        let path = "\(directory)/q.sock"
        let listener = try UnixListener.listen(path: path, mode: 0o600, backlog: 16)
        descriptors.append(listener.descriptor)
        #expect(listen(listener.descriptor, 1) == 0)
        listener.restoreBacklog()
        // Each of these connections waits in the queue. If the queue were full, connect(2) would fail with EAGAIN.
        for _ in 0..<12 { descriptors.append(try #require(Self.connected(to: path))) }
    }

    private static func connected(to path: String) -> CInt? {
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}
