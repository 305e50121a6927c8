import DaemonKit
import Glibc
import LocalSocket
import MerchantTestSupport
import Testing

/// How the daemon detects that it listens on its own sockets.
@Suite struct NewSocketsTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test func `sockets count as listening when all of them are new, and nothing connects to them`() throws {
        let paths = [scratch.path("a.sock"), scratch.path("d.sock")]
        // The file of a killed daemon.
        let killed = try UnixListener.listen(path: paths[0], mode: 0o600, backlog: 1)
        close(killed.descriptor)
        let sockets = NewSockets(paths)
        #expect(!sockets.areListening)
        let first = try UnixListener.listen(path: paths[0], mode: 0o600, backlog: 1)
        defer { close(first.descriptor) }
        #expect(!sockets.areListening)
        let second = try UnixListener.listen(path: paths[1], mode: 0o600, backlog: 1)
        defer { close(second.descriptor) }
        // A connection that waits to be accepted would come from the check.
        #expect(sockets.areListening)
        for listener in [first, second] {
            #expect(accept(listener.descriptor, nil, nil) == -1 && errno == EAGAIN)
        }
    }

    @Test func `a file that is no socket does not count`() throws {
        let path = scratch.path("a.sock")
        let sockets = NewSockets([path])
        try scratch.write("", "a.sock")
        #expect(!sockets.areListening)
    }
}
