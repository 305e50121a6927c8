import Foundation
import LocalHooks
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import PassProvisioning
import Testing

/// The hooks of `provisioning.activation`, with real programs and a real HTTP server.
@Suite struct ActivationHookTests {
    private static let cardNumber = "5204740009900014"

    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private static let question = ActivationQuestion(
        requestId: "request-1", network: .mastercard, configuration: .cardNumber, nonce: "9c023092",
        card: Array(#"{"primaryAccountNumber":"\#(cardNumber)","name":"Jo Example"}"#.utf8))

    private static func hook(_ hook: ActivationSettings.Hook?, within seconds: Int = 20) -> ActivationHook {
        ActivationHook(
            CurrentValue(hook.map { ActivationSettings(hook: $0, timeLimit: .seconds(seconds)) }))
    }

    private static func shell(_ script: String, within seconds: Int = 20) -> ActivationHook {
        hook(.command(["/bin/sh", "-c", script]), within: seconds)
    }

    private static func refusal(_ hook: ActivationHook) async throws -> MerchantError {
        do { _ = try await hook.activationData(for: question) } catch let error as MerchantError { return error }
        return try #require(nil as MerchantError?, "the hook gave activation data")
    }

    @Test func `without a hook there is no activation data`() async throws {
        let data = try await Self.hook(nil).activationData(for: Self.question)
        #expect(data == nil)
    }

    @Test func `a command gets the request as JSON on standard input, and its response is decoded once`() async throws {
        let file = scratch.path("input.json")
        let hook = Self.shell("cat >\(file); echo '{\"activationData\": \"T1RQLTEyMw==\", \"more\": 1}'")
        let data = try await hook.activationData(for: Self.question)
        #expect(data == Array("OTP-123".utf8))
        let json = try JSONSerialization.jsonObject(with: Data(scratch.bytes("input.json")))
        let input = try #require(json as? [String: Any])
        #expect(Set(input.keys) == ["requestId", "network", "configuration", "nonce", "card"])
        #expect(input["requestId"] as? String == "request-1" && input["network"] as? String == "Mastercard")
        #expect(input["configuration"] as? Int == 1 && input["nonce"] as? String == "9c023092")
        let card = try #require(input["card"] as? [String: Any])
        #expect(card["primaryAccountNumber"] as? String == Self.cardNumber)
    }

    @Test(
        "a failing command gives activationFailed, and the error contains no card data that the command printed",
        arguments: [
            "cat >&2; exit 1", "cat", "cat; exit 1", "kill -9 $$", "echo '{\"activationData\": \"not Base64\"}'",
            "echo '{\"activationData\": \"\"}'", "echo '{\"activationData\": null}'", "true",
            "head -c 100000 /dev/zero",
        ])
    func failing(script: String) async throws {
        let error = try await Self.refusal(Self.shell(script))
        #expect(error.code == .activationFailed)
        #expect(!error.detail.contains(Self.cardNumber) && !error.detail.contains("Jo Example"))
    }

    @Test func `a command that is missing or does not end gives activationUnavailable`() async throws {
        let missing = try await Self.refusal(Self.hook(.command(["/nowhere/at-all", "secret-argument"])))
        #expect(missing.code == .activationUnavailable && !missing.detail.contains("secret-argument"))
        let endless = try await Self.refusal(Self.shell("sleep 1000", within: 1))
        #expect(endless.code == .activationUnavailable)
    }

    @Test func `more calls than may run at the same time all get their response`() async throws {
        let hook = Self.shell("cat >/dev/null; echo '{\"activationData\": \"T1RQ\"}'")
        let found = try await withThrowingTaskGroup(of: [UInt8]?.self) { tasks in
            for _ in 0..<3 * ActivationHook.concurrentCalls {
                tasks.addTask { try await hook.activationData(for: Self.question) }
            }
            return try await tasks.reduce(into: [[UInt8]?]()) { $0.append($1) }
        }
        #expect(found == Array(repeating: Array("OTP".utf8), count: 3 * ActivationHook.concurrentCalls))
    }

    // MARK: HTTP

    @Test(
        "an HTTP server gets the same JSON, and its response is decoded once",
        .enabled(if: HookServer.isPossible, "needs python3"), arguments: [false, true])
    func endpoint(onUnixSocket: Bool) async throws {
        try await HookServer.serve(scratch, onUnixSocket: onUnixSocket, reply: #"{"activationData": "T1RQLTEyMw=="}"#) {
            endpoint in
            let data = try await Self.hook(.endpoint(endpoint)).activationData(for: Self.question)
            #expect(data == Array("OTP-123".utf8))
        }
        let json = try JSONSerialization.jsonObject(with: Data(scratch.bytes("requests")))
        let input = try #require(json as? [String: Any])
        #expect((input["card"] as? [String: Any])?["primaryAccountNumber"] as? String == Self.cardNumber)
    }

    @Test(
        "a failing HTTP server gives activationFailed, and the error does not contain its response",
        .enabled(if: HookServer.isPossible, "needs python3"),
        arguments: [(500, #"{"activationData": "T1RQ"}"#), (200, "5204740009900014"), (302, "")])
    func failingEndpoint(status: Int, reply: String) async throws {
        try await HookServer.serve(scratch, onUnixSocket: false, status: status, reply: reply) { endpoint in
            let error = try await Self.refusal(Self.hook(.endpoint(endpoint)))
            #expect(error.code == .activationFailed && !error.detail.contains(Self.cardNumber))
        }
    }

    @Test func `an HTTP server that cannot be reached gives activationUnavailable`() async throws {
        let missing = scratch.path("none.sock").replacing("/", with: "%2F")
        let endpoint = try #require(LocalEndpoint(text: "http+unix://\(missing)/otp"))
        let error = try await Self.refusal(Self.hook(.endpoint(endpoint)))
        #expect(error.code == .activationUnavailable)
    }
}
