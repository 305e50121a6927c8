import Foundation
import MerchantTestSupport
import Testing

/// `event list --follow` while the daemon is stopped, killed and started again.
@Suite struct EventStreamTests {
    @Test func `event list --follow continues after a restart of the daemon, and prints each event exactly once`()
        throws
    {
        let installation = try Installation()
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.example.shop").status == 0)
        try createEvents(3, installation)
        let follower = try installation.startCtl(
            ["--output", "json", "event", "list", "--follow"], output: installation.path("events"))
        defer { follower.killAndWait() }
        for round in 1...3 {
            try wait(installation, count: round * 3)
            if round == 2 { installation.stop(SIGTERM) } else { installation.stop(SIGKILL) }
            try installation.start()
            try createEvents(3, installation)
        }
        try wait(installation, count: 12)
        #expect(try sequences(installation) == Array(1...12))
        let listed = try installation.ctlJSON("event", "list", "--merchant", "merchant.com.example.shop", "--last", "2")
        #expect((listed["items"] as? [[String: Any]])?.compactMap { $0["sequence"] as? Int } == [11, 12])
    }

    /// Creates events: the revocation of a pending key pair is one event.
    private func createEvents(_ count: Int, _ installation: Installation) throws {
        for _ in 0..<count {
            let generated = try installation.ctlJSON("key", "generate", "merchant.com.example.shop")
            let key = try #require(generated["publicKeyHash"] as? String)
            #expect(try installation.ctl("key", "revoke", "--reason", "unused", "--yes", "--", key).status == 0)
        }
    }

    private func sequences(_ installation: Installation) throws -> [Int] {
        try String(contentsOfFile: installation.path("events"), encoding: .utf8).split(separator: "\n").compactMap {
            line in
            (try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["sequence"] as? Int
        }
    }

    private func wait(_ installation: Installation, count: Int) throws {
        try installation.eventually("\(count) events") { try sequences(installation).count >= count }
    }
}
