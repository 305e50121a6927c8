import Foundation
import MerchantTestSupport
import Testing

/// `kill -9` while notifications of merchant tokens arrive.
///
/// `scripts/notification-test` runs 500 rounds of this test.
@Suite(
    .tags(.slow), .skippedInQuickRuns,
    .enabled(if: Installation.hasPython, "python3 or its package cryptography is not installed"))
struct NotificationCrashTests {
    static let rounds = ProcessInfo.processInfo.environment["MERCHANTKEYD_NOTIFICATION_ROUNDS"].flatMap(Int.init) ?? 10
    static let merchants = (1...3).map { "merchant.com.example.stream\($0)" }

    @Test func `no notification that was answered with 200 is lost, and none becomes two events`() throws {
        let installation = try Installation()
        try installation.apple("init")
        let apple = try ApplePeer(.sandbox, for: installation)
        let webhook = try WebhookReceiver(for: installation)
        let settings = try installation.subscriptionSettings(
            apple, webhook, port: Installation.freePort(),
            ["notifications-per-minute: 1000000", "waiting-per-address: 1000000", "waiting: 10000000"])
        try installation.start(config: settings)
        try installation.addWithIdentity(Installation.integrator)
        var targets: [String] = []
        for merchant in Self.merchants {
            #expect(try installation.ctl("merchant", "add", merchant).status == 0)
            targets += [try installation.notificationURL(merchant), merchant]
        }
        let script = try #require(
            Bundle.module.path(forResource: "notification_stream", ofType: "py", inDirectory: "Scripts"))
        let report = installation.path("report.json")
        let stream = try ChildProcess(
            [
                "python3", script, installation.path(AppleServer.controlSocket), installation.path("apple/root.pem"),
                report,
            ] + targets, output: .file(installation.path("stream.out")), error: .file(installation.path("stream.out")))
        defer { stream.killAndWait() }

        for _ in 1...Self.rounds {
            Installation.waitRandomly(upTo: 1, atLeast: 0.01)
            installation.stop(SIGKILL)
            try installation.start(config: settings)
            #expect(
                stream.isRunning,
                "\((try? String(contentsOfFile: installation.path("stream.out"), encoding: .utf8)) ?? "")")
        }
        stream.signal(SIGTERM)
        #expect(stream.wait().status == 0)
        let counts = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: report))) as? [String: Any])
        let acknowledged = Set(counts["acknowledged"] as? [String] ?? [])
        #expect(acknowledged.count > 5 * Self.rounds && counts["unacknowledged"] as? [String] == [])
        // The kills must interrupt notifications, and some must be sent twice: otherwise the test shows nothing.
        #expect((counts["failures"] as? Int ?? 0) > 0 && (counts["repeated"] as? Int ?? 0) > 0)

        var delivered: [String: Set<String>] = [:]
        try installation.eventually("every event is delivered", within: .seconds(120 + Self.rounds)) {
            delivered = try webhook.events().reduce(into: [:]) { $0[$1.eventIdentifier, default: []].insert($1.id) }
            return acknowledged.isSubset(of: delivered.keys)
        }
        #expect(acknowledged.subtracting(delivered.keys) == [], "lost")
        #expect(delivered.filter { $0.value.count > 1 } == [:], "delivered as two events")
        let verified = try installation.ctl("audit", "verify")
        #expect(verified.status == 0, "\(verified.error)")
        print(
            "notification test: \(Self.rounds) kills, \(acknowledged.count) notifications answered with 200, \(counts["repeated"] ?? 0) sent twice, none lost, none delivered as two events"
        )
    }
}
