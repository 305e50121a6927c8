import Foundation
import Testing
import Vocabulary
import WireAPI

@Suite("merchantkeyctl event")
struct EventCommandTests {
    private static func event(_ sequence: Int) -> EventDocument {
        var event = EventDocument(
            String(repeating: "a", count: 32), sequence: sequence, kind: "keyRevoked", severity: "warning",
            occurredAt: Samples.time, detail: "the key\u{1B}[2J is revoked")
        event.merchantIdentifier = "merchant.com.example"
        return event
    }

    @Test("The newest events are listed, oldest first, with the given filters; control characters are replaced")
    func newest() async throws {
        try await FakeDaemon.with({ _ in try .json(Page(items: [Self.event(7), Self.event(9)], nextCursor: nil)) }) {
            program, daemon in
            let list = try await program.run([
                "event", "list", "--last", "2", "--merchant", "merchant.com.example", "--kind", "keyRevoked",
                "--severity",
                "warning", "--socket", daemon.socketPath,
            ])
            #expect(list.status == 0, "\(list.error)")
            let lines = list.output.split(separator: "\n")
            #expect(lines.count == 3 && lines[0].hasPrefix("NUMBER  TIME (UTC)"))
            #expect(lines[1].hasPrefix("7       2026-11-21 04:53  warning   keyRevoked") && lines[2].hasPrefix("9 "))
            #expect(!list.output.contains("\u{1B}"))
            let target = try #require(daemon.requests.first?.target)
            for part in ["/v1/events?", "newest=true", "limit=2", "kind=key", "severity=warning", "merchant=merchant"] {
                #expect(target.contains(part), "\(target)")
            }
        }
    }

    @Test("--after follows every page")
    func after() async throws {
        try await FakeDaemon.with({ request in
            request.target.contains("after=4&")
                ? try .json(Page(items: [Self.event(5), Self.event(6)], nextCursor: "6"))
                : try .json(Page(items: [Self.event(8)], nextCursor: nil))
        }) { program, daemon in
            let list = try await program.run([
                "event", "list", "--after", "4", "--output", "json", "--socket", daemon.socketPath,
            ])
            let items = try JSONSerialization.jsonObject(with: Data(list.output.utf8)) as? [String: [[String: Any]]]
            #expect(items?["items"]?.compactMap { $0["sequence"] as? Int } == [5, 6, 8])
            #expect(daemon.requests.map { $0.target.contains("after=6&") } == [false, true])
        }
    }

    @Test("Invalid options are wrong usage; if no daemon runs when --follow starts, the exit status is 3")
    func refused() async throws {
        let program = try Program()
        defer { program.remove() }
        for arguments in [["--last", "0"], ["--last", "1001"], ["--after", "-1"], ["--severity", "bad"]] {
            #expect(try await program.run(["event", "list"] + arguments).status == 2, "\(arguments)")
        }
        #expect(try await program.run(["event", "list", "--follow"]).status == 3)
    }

    @Test("event redeliver requests the delivery of one event to one webhook, or of all parked events")
    func redeliver() async throws {
        try await FakeDaemon.with({ _ in try .json(RedeliveredEventsDocument(redelivered: 3)) }) { program, daemon in
            let one = try await program.run([
                "event", "redeliver", "17", "--webhook", "ops", "--socket", daemon.socketPath,
            ])
            #expect(one.status == 0 && one.output == "deliveries queued  3\n")
            _ = try await program.run(["event", "redeliver", "--socket", daemon.socketPath])
            #expect(daemon.requests.map(\.target) == ["/v1/events/redeliver", "/v1/events/redeliver"])
            #expect(daemon.requests.map(\.text) == [#"{"sequence":17,"webhook":"ops"}"#, "{}"])
        }
    }
}
