import Foundation
import MerchantCore
import MerchantOperations
import Testing
import WireAPI

/// `/v1/webhooks` and `/v1/webhooks/test`.
@Suite struct WebhookTests {
    @Test func `the webhooks of the settings are listed by name, without paths and queries`() async throws {
        try await TestServer.run { server in
            let reply = try await server.curl("GET", "/v1/webhooks")
            let page = try JSONDecoder().decode(Page<WebhookDocument>.self, from: Data(reply.text.utf8))
            #expect(page.items.map(\.name) == ["broken", "ops"])
            #expect(page.items.map(\.host) == ["[2001:db8::1]:8443", "ops.example.com"])
            #expect(page.items.map(\.secrets) == [nil, 2] && page.items.map(\.kinds) == [nil, ["keyRevoked"]])
        }
    }

    @Test func `a test reports the receiver's response, and is audited with its outcome`() async throws {
        try await TestServer.run { server in
            for (name, delivered) in [("ops", true), ("broken", false)] {
                let reply = try await server.curl("POST", "/v1/webhooks/test", Data(#"{"webhook": "\#(name)"}"#.utf8))
                let document = try JSONDecoder().decode(WebhookTestDocument.self, from: Data(reply.text.utf8))
                #expect(reply.status == 200 && document.delivered == delivered, "\(reply.text)")
                #expect(document.status == (delivered ? 204 : nil) && (document.failure == nil) == delivered)
                #expect(document.eventId.count == 32)
            }
            let unknown = try await server.curl("POST", "/v1/webhooks/test", Data(#"{"webhook": "none"}"#.utf8))
            #expect(unknown.status == 404, "\(unknown.text)")
            let audit = try await server.operations.audit.auditRecords(
                AuditFilter(), from: nil, oldestFirst: false, limit: 10
            ).map(\.entry).filter { $0.action == .webhookTested }
            #expect(Set(audit.map(\.after)) == ["delivered", "failed"])
            #expect(audit.contains { $0.reason == "webhook=ops status=204" })
        }
    }
}
