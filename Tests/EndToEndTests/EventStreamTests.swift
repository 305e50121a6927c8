import Foundation
import MerchantTestSupport
import Testing

/// `event list --follow` beside a daemon that is killed and comes back.
@Suite struct EventStreamTests {
    @Test func `following goes on over a restart, with no event twice and none lost`() throws {
        let installation = try Installation()
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.example.shop").status == 0)
        try happen(3, installation)
        let follower = try installation.startCtl(
            ["--output", "json", "event", "list", "--follow"], output: installation.path("events"))
        defer { follower.killAndWait() }
        for round in 1...3 {
            try until(installation, count: round * 3)
            if round == 2 { installation.stop(SIGTERM) } else { installation.stop(SIGKILL) }
            try installation.start()
            try happen(3, installation)
        }
        try until(installation, count: 12)
        #expect(try sequences(installation) == Array(1...12))
        let listed = try installation.ctlJSON("event", "list", "--merchant", "merchant.com.example.shop", "--last", "2")
        #expect((listed["items"] as? [[String: Any]])?.compactMap { $0["sequence"] as? Int } == [11, 12])
    }

    /// A key pair that is abandoned makes one event.
    private func happen(_ count: Int, _ installation: Installation) throws {
        for _ in 0..<count {
            let made = try installation.ctlJSON("key", "generate", "merchant.com.example.shop")
            let key = try #require(made["publicKeyHash"] as? String)
            #expect(try installation.ctl("key", "revoke", "--reason", "tried out", "--yes", "--", key).status == 0)
        }
    }

    private func sequences(_ installation: Installation) throws -> [Int] {
        try String(contentsOfFile: installation.path("events"), encoding: .utf8).split(separator: "\n").compactMap {
            line in
            (try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["sequence"] as? Int
        }
    }

    /// Waits for another process: there is no clock of ours to move.
    private func until(_ installation: Installation, count: Int) throws {
        for _ in 0..<400 where (try? sequences(installation).count) ?? 0 < count {
            Thread.sleep(forTimeInterval: 0.025)
        }
    }
}
