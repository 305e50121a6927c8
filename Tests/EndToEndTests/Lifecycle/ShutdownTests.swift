import Foundation
import Glibc
import MerchantTestSupport
import Testing

/// The daemon's shutdown is bounded in time.
@Suite struct ShutdownTests {
    @Test(.tags(.slow), .skippedInQuickRuns)
    func `a client that reads no response does not prevent a clean shutdown`() throws {
        let installation = try Installation()
        try installation.start()
        let client = try connect(to: installation.adminSocket)
        defer { close(client) }
        let request = Array("GET /v1/openapi.yaml HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        for _ in 0..<200 {
            guard
                send(client, request, request.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
                    == request.count
            else { break }
        }
        var last: Int32 = 0
        try installation.eventually("the socket's buffers are full") {
            defer { last = unreadCount(client) }
            return unreadCount(client) > 100_000 && unreadCount(client) == last
        }
        #expect(installation.stop() == 0, "\(installation.log.suffix(500))")
    }

    @Test(.tags(.slow), .skippedInQuickRuns)
    func `a request that does not end does not prevent the shutdown, and the log names its server`() throws {
        let installation = try Installation()
        let script = try installation.write(
            """
            #!/bin/sh
            cd \(installation.directory)
            echo $$ >> requests
            while [ -e hang ]; do sleep 0.05; done
            cat key
            """, "key.sh")
        let created = try Installation.run([
            "sh", "-c", "umask 077; cd \(installation.directory); head -c 32 /dev/urandom > key; chmod 700 key.sh",
        ])
        #expect(created.status == 0)
        let config = try installation.write(
            "master-key:\n  source: command\n  command: [\(script)]\n  timeout: 120s\n", "c.yaml")
        try installation.start(config: config)
        func requestCount() -> Int {
            (try? String(contentsOfFile: installation.path("requests"), encoding: .utf8).split(separator: "\n").count)
                ?? 0
        }
        let before = requestCount()
        _ = FileManager.default.createFile(atPath: installation.path("hang"), contents: nil)
        let backup = try installation.startCtl("backup", "create", installation.path("hanging.backup"))
        try installation.eventually("the backup waits for the master key") { requestCount() > before }
        #expect(installation.stop() == 1)
        backup.wait()
        #expect(installation.log.contains("waitedFor=AdminServer\n"), "\(installation.log.suffix(500))")
        try FileManager.default.removeItem(atPath: installation.path("hang"))
        // The next start finds no damage.
        try installation.start(config: config)
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

    /// The number of received bytes that were not read.
    private func unreadCount(_ descriptor: Int32) -> Int32 {
        var count: Int32 = 0
        return ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? count : -1
    }
}
