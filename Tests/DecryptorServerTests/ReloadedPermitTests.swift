import MerchantCore
import MerchantTestSupport
import Testing
import Vocabulary

/// Permits that change while connections are open.
@Suite struct ReloadedPermitTests {
    let stage = Stage()

    @Test func `an open connection loses a permit with its next request, and gets it back`() async throws {
        let path = "/v1/keys/\(stage.addKey().base64URL)"
        let callers = ChangingValue(Stage.policy([.resolve, .decrypt]))
        try await stage.serve(policy: callers.current) { _ in
            let statuses = try await stage.client { client in
                let before = try client.ask("GET", path).status
                callers.change(to: Stage.policy([.decrypt]))
                let without = try client.ask("GET", path).status
                callers.change(to: Stage.policy([.resolve]))
                return [before, without, try client.ask("GET", path).status]
            }
            #expect(statuses == [200, 403, 200])
        }
    }

    @Test func `an open connection of a caller who loses every permit is refused and closed`() async throws {
        let path = "/v1/keys/\(stage.addKey().base64URL)"
        let callers = ChangingValue(Stage.policy())
        try await stage.serve(policy: callers.current) { _ in
            let (statuses, isClosed) = try await stage.client { client in
                let before = try client.ask("GET", path).status
                callers.change(to: CallerPolicy(rules: []))
                let after = try client.ask("GET", path).status
                return ([before, after], try client.reply() == nil)
            }
            #expect(statuses == [200, 403] && isClosed)
        }
    }
}
