import Foundation
import MerchantTestSupport
import Testing

/// The real daemon with a webhook in its settings.
@Suite("The daemon's webhooks", .enabled(if: Receiver.isAvailable, "needs Python"))
struct DaemonTests {
    private static let programs = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path

    let receiver: Receiver

    init() throws { receiver = try Receiver() }

    private func settings(_ url: String, _ more: String = "") throws {
        try receiver.write(
            """
            events:
              webhooks:
                - url: \(url)
                  name: ops
                  secret-file: \(receiver.path("secret"))
                  trust-roots: [\(receiver.path("root.pem"))]
            \(more)
            """, "settings.yaml")
    }

    private var daemon: [String] {
        [
            "\(Self.programs)/merchantkeyd", "--state-directory", receiver.path("state"), "--config",
            receiver.path("settings.yaml"),
        ]
    }

    private func start() throws -> ChildProcess {
        let process = try ChildProcess(daemon)
        for _ in 0..<200 {
            if (try? ctl("status")) != nil { return process }
            Thread.sleep(forTimeInterval: 0.05)
        }
        Issue.record("the daemon did not start")
        return process
    }

    @discardableResult
    private func ctl(_ arguments: String...) throws -> String {
        try Receiver.run(
            ["\(Self.programs)/merchantkeyctl", "--socket", receiver.path("state/admin.sock")] + arguments)
    }

    private func until(_ what: String, _ condition: () throws -> Bool) throws {
        for _ in 0..<400 {
            if try condition() { return }
            Thread.sleep(forTimeInterval: 0.025)
        }
        Issue.record("\(what) did not happen")
    }

    @Test(
        "after a kill between a delivery and its record the daemon delivers again and loses nothing; the id stays the same"
    )
    func killed() throws {
        try settings("https://localhost:\(receiver.port)/", "      allow-internal-addresses: true")
        var process = try start()
        try ctl("merchant", "add", "merchant.com.example.shop")
        var keys: [String] = []
        for _ in 0..<3 {
            let output = try ctl("key", "generate", "merchant.com.example.shop")
            keys.append(try #require(output.firstMatch(of: /publicKeyHash +([^ \n]+)/)).1.description)
        }
        try receiver.mode("slow")
        for key in keys { try ctl("key", "revoke", "--reason", "test", "--yes", "--", key) }
        try until("the first delivery") { receiver.deliveries.count == 1 }
        // The receiver has the event and takes more than a second to respond.
        process.killAndWait()
        try receiver.mode("ok")
        process = try start()
        try until("delivery") { Set(receiver.deliveries.map(\.sequence)).count == 3 }
        let begin = ContinuousClock.now
        process.signal(SIGTERM)
        #expect(process.wait() == .exited(0) && ContinuousClock.now - begin < .seconds(10))
        let got = receiver.deliveries
        #expect(got.map(\.sequence) == [1, 1, 2, 3] && got.allSatisfy(\.isValid))
        #expect(got[0].id == got[1].id && Set(got.map(\.id)).count == 3)
    }

    @Test func `a reload adds, changes and removes a webhook without a restart`() throws {
        try receiver.write("log:\n  level: info\n", "settings.yaml")
        let process = try start()
        try ctl("merchant", "add", "merchant.com.example.shop")
        let key = try ctl("key", "generate", "merchant.com.example.shop")
        let hash = try #require(key.firstMatch(of: /publicKeyHash +([^ \n]+)/)).1.description
        try settings("https://localhost:\(receiver.port)/first", "      allow-internal-addresses: true")
        #expect(try ctl("reload").contains("events.webhooks"))
        try ctl("key", "revoke", "--reason", "test", "--yes", "--", hash)
        try until("the first delivery") { receiver.deliveries.count == 1 }
        try settings("https://localhost:\(receiver.port)/second", "      allow-internal-addresses: true")
        try ctl("reload")
        try ctl("key", "restore", "--", hash)
        try ctl("key", "revoke", "--reason", "again", "--yes", "--", hash)
        try until("a delivery to the new address") { receiver.deliveries.contains { $0.path == "/second" } }
        try receiver.write("log:\n  level: info\n", "settings.yaml")
        try ctl("reload")
        let status = try ctl("status", "--output", "json")
        #expect(!status.contains("\"ops\""))
        process.signal(SIGTERM)
        #expect(process.wait() == .exited(0))
        #expect(receiver.deliveries.allSatisfy { $0.isValid })
        #expect(receiver.deliveries.count { $0.path == "/first" } == 1)
    }

    @Test("an invalid setting of a webhook or of the events stops the start with the reason")
    func refused() throws {
        for (url, more, says) in [
            ("http://ops.example.com/hidden", "", "'events.webhooks.0.url' is a URL with 'http', expected https"),
            (
                "https://127.0.0.1/hidden", "",
                "the webhook 'ops' ('events.webhooks.0') is at the internal address 127.0.0.1"
            ),
            (
                "https://ops.example.com/hidden", "      kinds: [keyrevoked]",
                "'events.webhooks.0.kinds' has 'keyrevoked'"
            ),
            ("https://ops.example.com/hidden", "      kind: [keyRevoked]", "unknown setting 'events.webhooks.0.kind'"),
            (
                "https://ops.example.com/hidden",
                "    - {url: 'https://b.example.com', name: ops, secret-file: \(receiver.path("secret"))}",
                "two entries named 'ops'"
            ),
            (
                "https://ops.example.com/hidden", "  retention-days: 0",
                "'events.retention-days' is '0', expected a number from 1 to 3650"
            ),
        ] {
            try settings(url, more)
            let outcome = try ChildProcess.run(daemon)
            #expect(outcome.status == 1 && outcome.error.contains(says), "\(outcome.error)")
            #expect(!outcome.error.contains("hidden"))
        }
    }
}
