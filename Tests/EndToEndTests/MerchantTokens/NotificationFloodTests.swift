import Foundation
import MerchantTestSupport
import Testing

/// A flood of junk notifications from one address, while real ones arrive from another.
@Suite(.enabled(if: Installation.hasPython, "python3 or its package cryptography is not installed"))
struct NotificationFloodTests {
    private static let merchant = "merchant.com.example.flood"
    /// Set by `scripts/notification-test --flood`.
    private static let isFullFlood = ProcessInfo.processInfo.environment["MERCHANTKEYD_NOTIFICATION_FLOOD"] != nil

    private struct Figures: Decodable {
        /// The number of responses with each status.
        let junk: [String: Int]
        let junkSeconds: Double
        let refused: [String]
        /// In seconds, sorted.
        let delays: [Double]
        let missing: [String]
    }

    @Test("junk notifications delay no real one from another address, and memory and disk stay bounded")
    func flood() throws {
        if Self.isFullFlood { try flood(junk: 100_000, real: 100) } else { try flood(junk: 2000, real: 20) }
    }

    private func flood(junk: Int, real: Int) throws {
        let installation = try Installation()
        try installation.apple("init")
        let apple = try ApplePeer(.sandbox, for: installation)
        let webhook = try WebhookReceiver(for: installation)
        // The default limit for the requests of an address would refuse most of the junk. Without it, the limits of the
        // queue must suffice.
        let settings = try installation.subscriptionSettings(
            apple, webhook, port: Installation.freePort(), ["notifications-per-minute: 1000000"])
        try installation.start(config: settings)
        try installation.addWithIdentity(Installation.integrator)
        #expect(try installation.ctl("merchant", "add", Self.merchant).status == 0)
        let url = try installation.notificationURL(Self.merchant)
        let before = (memory: try Self.memory(of: installation), disk: try Self.disk(of: installation))

        let script = try #require(
            Bundle.module.path(forResource: "notification_flood", ofType: "py", inDirectory: "Scripts"))
        let report = installation.path("report.json")
        let outcome = try Installation.run([
            "python3", script, installation.path(AppleServer.controlSocket), installation.path("apple/root.pem"),
            installation.path("webhook/got.jsonl"), report, "\(junk)", "\(real)", url, Self.merchant,
        ])
        try #require(outcome.status == 0, "\(outcome.error)")
        let figures = try JSONDecoder().decode(Figures.self, from: Data(contentsOf: URL(filePath: report)))
        let after = (memory: try Self.memory(of: installation), disk: try Self.disk(of: installation))
        print(
            """
            notification flood: \(junk) junk in \(figures.junkSeconds) s, statuses \(figures.junk.sorted { $0.key < $1.key }); \
            \(real) real, delivered after \(figures.delays.last ?? 0) s at most, \
            \(figures.delays.dropFirst(figures.delays.count / 2).first ?? 0) s at the median; \
            memory \(before.memory >> 20) MiB, at most \(after.memory >> 20) MiB; \
            files \(before.disk >> 20) MiB, then \(after.disk >> 20) MiB
            """)

        #expect(figures.refused == [] && figures.missing == [])
        #expect(figures.delays.count == real && figures.delays.allSatisfy { $0 < 60 }, "\(figures.delays)")
        #expect(figures.junk.values.reduce(0, +) == junk)
        #expect(Set(figures.junk.keys).isSubset(of: ["200", "503"]), "\(figures.junk)")
        // 10,000 notifications of one address may wait, so the further ones are refused.
        #expect(junk < 20_000 || figures.junk["503"] ?? 0 > junk / 4, "\(figures.junk)")
        #expect(after.memory - before.memory < 96 << 20)
        #expect(after.disk - before.disk < 64 << 20)
        #expect(try webhook.events().count >= real && installation.log.utf8.count < 4 << 20)
    }

    /// The largest resident set size of the daemon so far, in bytes: `VmHWM` in proc(5).
    private static func memory(of installation: Installation) throws -> Int {
        let process = try #require(installation.process)
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.split(separator: " ").dropLast().last ?? "")) * 1024
    }

    /// The size of all files in the state directory, in bytes.
    private static func disk(of installation: Installation) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: installation.stateDirectory).reduce(0) { sum, name in
            let attributes = try FileManager.default.attributesOfItem(atPath: installation.path("state/\(name)"))
            return sum + (attributes[.size] as? Int ?? 0)
        }
    }
}
