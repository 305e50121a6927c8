import Foundation
import Glibc
import LocalSocket
import Testing

/// A class, so that its deinitializer removes the directory.
@Suite final class UnixListenerTests {
    let directory: String

    init() throws {
        directory = NSTemporaryDirectory() + "unix-listener-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    private func listening<Result>(
        at path: String, mode: UInt32 = 0o600, _ body: (UnixListener) throws -> Result
    ) throws -> Result {
        let listener = try UnixListener.listen(path: path, mode: mode, backlog: 16)
        defer {
            listener.remove()
            close(listener.descriptor)
        }
        return try body(listener)
    }

    private static func mode(of path: String) -> UInt32? {
        var found = stat()
        return lstat(path, &found) == 0 ? found.st_mode : nil
    }

    /// - Returns: 0, or the error number.
    private static func connects(to path: String) -> CInt {
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return result == 0 ? 0 : errno
    }

    @Test("the socket has the given mode", arguments: [0o600, 0o660, 0o666] as [UInt32])
    func mode(_ mode: UInt32) throws {
        let path = directory + "/a.sock"
        try listening(at: path, mode: mode) { _ in
            #expect(Self.mode(of: path) == S_IFSOCK | mode)
            #expect(Self.connects(to: path) == 0)
        }
    }

    @Test("the socket's file has its mode and accepts connections as soon as it exists")
    func firstMoment() throws {
        let path = directory + "/a.sock"
        let watcher = Watcher(path)
        for _ in 0..<200 {
            let listener = try UnixListener.listen(path: path, mode: 0o600, backlog: 16)
            // The watcher pauses, because the file exists for a short time after the socket has been closed.
            watcher.pause()
            close(listener.descriptor)
            unlink(path)
            watcher.go()
        }
        let findings = watcher.stop()
        #expect(findings.sightings > 0, "the watcher saw nothing: the test proves nothing")
        #expect(findings.wrong == [])
    }

    @Test("no other file exists while the socket listens, and none after it was removed")
    func leavesNothing() throws {
        try listening(at: directory + "/a.sock") { _ in
            let found = try FileManager.default.contentsOfDirectory(atPath: directory)
            #expect(found == ["a.sock"])
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
    }

    @Test("a path of 107 bytes is accepted, one of 108 is refused with both numbers")
    func length() throws {
        let longest = directory + "/" + String(repeating: "s", count: 107 - directory.utf8.count - 1)
        try listening(at: longest) { _ in #expect(Self.connects(to: longest) == 0) }
        let fault = #expect(throws: SocketFault.self) {
            try UnixListener.listen(path: longest + "s", mode: 0o600, backlog: 16)
        }
        #expect(fault?.description == "the socket path has 108 bytes, expected 1 to 107: \(longest)s")
    }

    @Test("the socket of a killed process is replaced")
    func stale() throws {
        let path = directory + "/a.sock"
        let dead = try UnixListener.listen(path: path, mode: 0o600, backlog: 16)
        close(dead.descriptor)
        #expect(Self.connects(to: path) == ECONNREFUSED)
        try listening(at: path) { _ in #expect(Self.connects(to: path) == 0) }
    }

    @Test("a socket on which a process listens is never replaced")
    func taken() throws {
        let path = directory + "/a.sock"
        try listening(at: path) { _ in
            let fault = #expect(throws: SocketFault.self) {
                try UnixListener.listen(path: path, mode: 0o600, backlog: 16)
            }
            #expect(fault?.description.contains(path) == true)
            #expect(Self.connects(to: path) == 0)
        }
    }

    @Test("something that is not a socket is never replaced")
    func notASocket() throws {
        let path = directory + "/precious"
        try Data("data".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: SocketFault("\(path) exists and is not a socket: remove that file, or choose another path")) {
            try UnixListener.listen(path: path, mode: 0o600, backlog: 16)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("data".utf8))
    }

    @Test("removing a socket keeps the one with which another process replaced it")
    func successor() throws {
        let path = directory + "/a.sock"
        let first = try UnixListener.listen(path: path, mode: 0o600, backlog: 16)
        close(first.descriptor)
        try listening(at: path) { _ in
            first.remove()
            #expect(Self.connects(to: path) == 0)
        }
    }

    @Test("a missing directory is named, with the system's error message")
    func noDirectory() {
        let path = directory + "/nowhere/a.sock"
        let fault = #expect(throws: SocketFault.self) {
            try UnixListener.listen(path: path, mode: 0o600, backlog: 16)
        }
        #expect(fault?.description.hasSuffix("\(path): No such file or directory") == true)
    }

    @Test("the peer of a connected pair is this process")
    func credentials() throws {
        var pair: [CInt] = [0, 0]
        try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { for descriptor in pair { close(descriptor) } }
        let peer = try PeerCredentials(of: pair[0])
        #expect(peer.uid == getuid())
        #expect(peer.gid == getgid())
        #expect(peer.pid == getpid())
        var groups = [gid_t](repeating: 0, count: 65_536)
        let count = Int(getgroups(CInt(groups.count), &groups))
        #expect(peer.supplementaryGroups == Set(groups.prefix(count)))
        #expect(peer.program == (try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")))
    }

    @Test("a process that has ended has no program, and a descriptor that is not a socket has no peer")
    func noPeer() {
        #expect(PeerCredentials(uid: 0, gid: 0, pid: Int32.max).program == "")
        #expect(throws: SocketFault.self) { try PeerCredentials(of: 0 - 1) }
    }
}

/// Checks a path repeatedly on its own thread.
private final class Watcher: @unchecked Sendable {
    // Proof for @unchecked Sendable: the variables below `lock` are used only while it is held.
    private let lock = NSLock()
    private var stopped = false
    private var sightings = 0
    private var wrong: [String] = []
    private let finished = DispatchSemaphore(value: 0)

    init(_ path: String) {
        Thread.detachNewThread { [self] in
            while lock.withLock({ !stopped }) {
                lock.withLock { check(path) }
            }
            finished.signal()
        }
    }

    private func check(_ path: String) {
        var found = stat()
        guard lstat(path, &found) == 0 else { return }
        sightings += 1
        if found.st_mode != S_IFSOCK | 0o600 { wrong.append("mode \(String(found.st_mode, radix: 8))") }
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        // A full queue is not a refusal: EAGAIN.
        if result != 0, errno != EAGAIN { wrong.append("connect: \(String(cString: strerror(errno)))") }
    }

    func pause() { lock.lock() }
    func go() { lock.unlock() }

    func stop() -> (sightings: Int, wrong: [String]) {
        lock.withLock { stopped = true }
        finished.wait()
        return lock.withLock { (sightings, wrong) }
    }
}
