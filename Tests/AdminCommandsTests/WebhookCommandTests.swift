import Foundation
import Testing
import Vocabulary
import WireAPI

@Suite struct WebhookCommandTests {
    private static func webhook(_ name: String, secrets: Int?) -> WebhookDocument {
        var document = WebhookDocument(name, host: "\(name).example.com")
        document.secrets = secrets
        document.parked = 3
        return document
    }

    @Test func `webhook list shows each webhook with its host and number of secrets`() async throws {
        let items = [Self.webhook("ops", secrets: 2), Self.webhook("pay", secrets: nil)]
        try await FakeDaemon.with({ _ in try .json(Page(items: items, nextCursor: nil)) }) { program, daemon in
            let list = try await program.run(["webhook", "list", "--socket", daemon.socketPath])
            let lines = list.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
            try #require(list.status == 0 && lines.count == 3, "\(list)")
            #expect(lines[1].prefix(3) == ["ops", "ops.example.com", "2"])
            #expect(lines[2].prefix(3) == ["pay", "pay.example.com", "?"])
            #expect(daemon.requests.map(\.target) == ["/v1/webhooks"])
        }
    }

    @Test func `webhook test shows status, time and response, and exits with 1 if it was not delivered`() async throws {
        try await FakeDaemon.with({ request in
            let isGood = request.text.contains("ops")
            var document = WebhookTestDocument(
                isGood ? "ops" : "pay", eventId: "0a", delivered: isGood, milliseconds: 34)
            document.status = isGood ? 204 : 500
            document.responseBody = isGood ? "" : "out of order\u{1B}[31m"
            document.failure = isGood ? nil : "the receiver responded with status 500"
            return try .json(document)
        }) { program, daemon in
            let good = try await program.run(["webhook", "test", "ops", "--socket", daemon.socketPath])
            #expect(good.status == 0 && good.output.contains("204") && good.output.contains("34 ms"), "\(good)")
            #expect(daemon.requests.first?.target == "/v1/webhooks/test")
            #expect(daemon.requests.first?.text == #"{"webhook":"ops"}"#)
            let bad = try await program.run(["webhook", "test", "pay", "--socket", daemon.socketPath])
            #expect(bad.status == 1 && bad.output.contains("out of order") && bad.error.contains("500"), "\(bad)")
            #expect(!bad.output.contains("\u{1B}"), "a response can't control the terminal")
        }
    }
}
