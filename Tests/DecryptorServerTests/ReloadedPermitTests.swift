import MerchantCore
import MerchantTestSupport
import Testing
import Vocabulary

/// Permits that change while connections are open.
@Suite struct ReloadedPermitTests {
    let server = DecryptorTestServer()

    @Test func `an open connection loses a permit with its next request, and gets it back`() async throws {
        let path = "/v1/keys/\(server.addKey().base64URL)"
        let callers = ChangingValue(DecryptorTestServer.policy([.resolve, .decrypt]))
        try await server.serve(policy: callers.current) { _ in
            let statuses = try await server.client { client in
                let before = try client.ask("GET", path).status
                callers.change(to: DecryptorTestServer.policy([.decrypt]))
                let without = try client.ask("GET", path).status
                callers.change(to: DecryptorTestServer.policy([.resolve]))
                return [before, without, try client.ask("GET", path).status]
            }
            #expect(statuses == [200, 403, 200])
        }
    }

    @Test func `an open connection of a caller who loses every permit is refused and closed`() async throws {
        let path = "/v1/keys/\(server.addKey().base64URL)"
        let callers = ChangingValue(DecryptorTestServer.policy())
        try await server.serve(policy: callers.current) { _ in
            let (statuses, isClosed) = try await server.client { client in
                let before = try client.ask("GET", path).status
                callers.change(to: CallerPolicy(rules: []))
                let after = try client.ask("GET", path).status
                return ([before, after], try client.reply() == nil)
            }
            #expect(statuses == [200, 403] && isClosed)
        }
    }
}
