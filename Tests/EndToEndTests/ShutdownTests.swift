import Foundation
import Glibc
import Testing

/// The daemon's end is bounded, whoever keeps it up.
@Suite struct ShutdownTests {
    @Test func `a client that takes no answers does not keep the daemon from ending, and the log names what hung`()
        throws
    {
        let installation = try Installation()
        try installation.start()
        let client = try connect(to: installation.adminSocket)
        defer { close(client) }
        let request = Array("GET /v1/openapi.yaml HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        for _ in 0..<200 {
            #expect(send(client, request, request.count, Int32(MSG_NOSIGNAL)) == request.count)
        }
        var last: Int32 = 0
        try installation.eventually("the socket holds no more") {
            defer { last = waiting(client) }
            return waiting(client) > 100_000 && waiting(client) == last
        }
        #expect(installation.stop() == 1)
        #expect(installation.log.contains("waitedFor=AdminServer "), "\(installation.log.suffix(500))")
        // Nothing is the worse for it.
        try installation.start()
        #expect(installation.stop() == 0)
    }

    private func connect(to path: String) throws -> Int32 {
        let client = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(client, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0, "\(String(cString: strerror(errno)))")
        return client
    }

    /// How many bytes have come and were not read.
    private func waiting(_ descriptor: Int32) -> Int32 {
        var count: Int32 = 0
        return ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? count : -1
    }
}
