import Foundation
import LocalHooks
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

/// The hook of `merchant-tokens.usage-information`, with a real HTTP server.
@Suite(.enabled(if: HookServer.isPossible, "needs python3"))
struct UsageInformationHookTests {
    let scratch: Scratch
    let question: UsageInformationQuestion

    init() throws {
        scratch = try Scratch()
        question = UsageInformationQuestion(
            requestId: "request-1",
            merchantIdentifier: try #require(MerchantIdentifier("merchant.com.example.shop")),
            merchantTokenIdentifier: try #require(MerchantTokenIdentifier(text: "DSHRMC1")),
            authenticationToken: "a\"b\\c")
    }

    private func callHook(_ endpoint: LocalEndpoint, within seconds: Int = 20) async throws -> UsageInformationAnswer {
        try await UsageInformationHook(endpoint, within: .seconds(seconds)).usageInformation(for: question)
    }

    private func refusal(_ endpoint: LocalEndpoint, within seconds: Int = 20) async throws -> MerchantError {
        do { _ = try await callHook(endpoint, within: seconds) } catch let error as MerchantError { return error }
        return try #require(nil as MerchantError?, "the hook gave usage information")
    }

    @Test(arguments: [false, true])
    func `the server gets the question as JSON, and its response is the package`(onUnixSocket: Bool) async throws {
        try await HookServer.serve(scratch, onUnixSocket: onUnixSocket, reply: "usage") { endpoint in
            let answer = try await callHook(endpoint)
            #expect(answer == .package(Array("usage".utf8)))
        }
        let json = try JSONSerialization.jsonObject(with: Data(scratch.bytes("requests")))
        #expect(
            json as? [String: String] == [
                "requestId": "request-1", "merchantIdentifier": "merchant.com.example.shop",
                "merchantTokenIdentifier": "DSHRMC1", "authenticationToken": "a\"b\\c",
            ])
    }

    @Test(arguments: [(401, UsageInformationAnswer.notAuthorized), (404, .nothing)])
    func `the statuses 401 and 404 are no failures`(status: Int, answer: UsageInformationAnswer) async throws {
        try await HookServer.serve(scratch, onUnixSocket: false, status: status, reply: "no") { endpoint in
            let found = try await callHook(endpoint)
            #expect(found == answer)
        }
    }

    @Test(arguments: [(500, "usage"), (200, ""), (204, ""), (302, ""), (201, "usage")])
    func `another status, or an empty package, gives usageInformationFailed`(status: Int, reply: String) async throws {
        try await HookServer.serve(scratch, onUnixSocket: false, status: status, reply: reply) { endpoint in
            let error = try await refusal(endpoint)
            #expect(error.code == .usageInformationFailed && !error.detail.contains("a\"b"))
        }
    }

    @Test func `a response that is too large gives usageInformationFailed`() async throws {
        let reply = String(repeating: "x", count: UsageInformationHook.largestResponse + 1)
        try await HookServer.serve(scratch, onUnixSocket: false, reply: reply) { endpoint in
            let error = try await refusal(endpoint)
            #expect(error.code == .usageInformationFailed)
        }
    }

    @Test func `a server that is missing or too slow gives usageInformationUnavailable`() async throws {
        let missing = scratch.path("none.sock").replacing("/", with: "%2F")
        let endpoint = try #require(LocalEndpoint(text: "http+unix://\(missing)/usage"))
        #expect(try await refusal(endpoint).code == .usageInformationUnavailable)
        try await HookServer.serve(scratch, onUnixSocket: false, reply: "usage", pause: 30) { endpoint in
            let error = try await refusal(endpoint, within: 1)
            #expect(error.code == .usageInformationUnavailable)
        }
    }
}
