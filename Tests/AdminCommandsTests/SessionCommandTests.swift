import Foundation
import MerchantKeyClient
import Testing

@Suite("merchantkeyctl session, and the decryptor's client")
struct SessionCommandTests {
    /// JSON that no encoder writes, so that a decoded and encoded copy would differ.
    private static let session = "{ \"zeta\" :1,\"alpha\":\"\\u00e9é\" ,\n\t\"n\":1.50e0 }\r\n"
    private static let web = ["--display-name", "Tea Shop", "--domain", "shop.example.com"]

    /// Runs `body` with a fake decryptor socket that sends `reply`.
    private static func with(
        _ reply: FakeDaemon.Reply = .text(session), _ body: (Program, FakeDaemon) async throws -> Void
    ) async throws {
        let program = try Program()
        defer { program.remove() }
        let daemon = try FakeDaemon(in: program.directory, named: "decryptor.sock") { _ in reply }
        defer { daemon.stop() }
        try await body(program, daemon)
    }

    private static func fields(_ request: FakeDaemon.Request?) throws -> [String: String] {
        let body = try #require(request?.body)
        return try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: String])
    }

    @Test("Apple's object is printed byte for byte, also with --output json", arguments: [[], ["--output", "json"]])
    func unchanged(options: [String]) async throws {
        try await Self.with { program, daemon in
            let run = try await program.run(
                ["session", "request", "--partner", "shop|1", "--decryptor-socket", daemon.socketPath] + Self.web
                    + options)
            #expect(run.status == 0 && run.error.isEmpty, "\(run)")
            #expect(Array(run.output.utf8) == Array(Self.session.utf8))
            let request = try #require(daemon.requests.first)
            #expect(request.method == "POST" && request.target == "/v1/merchant-sessions")
            #expect(
                try Self.fields(request) == [
                    "partnerInternalMerchantIdentifier": "shop|1", "displayName": "Tea Shop", "initiative": "web",
                    "initiativeContext": "shop.example.com",
                ])
        }
    }

    @Test func `the options become the fields of each initiative`() async throws {
        try await Self.with { program, daemon in
            let common = [
                "session", "request", "--merchant", "merchant.com.example", "--display-name", "Shop",
                "--decryptor-socket", daemon.socketPath,
            ]
            let app = try await program.run(
                common + ["--team", "ABCDE12345", "--validation-url", "https://a.example/"])
            #expect(app.status == 0)
            let message = try await program.run(
                common + ["--messages-url", "https://bcrw.apple.com/1", "--domain", "shop.example.com"])
            #expect(message.status == 0)
            let requests = try daemon.requests.map(Self.fields)
            #expect(
                requests == [
                    [
                        "merchantIdentifier": "merchant.com.example", "displayName": "Shop", "initiative": "in_app",
                        "initiativeContext": "ABCDE12345", "validationURL": "https://a.example/",
                    ],
                    [
                        "merchantIdentifier": "merchant.com.example", "displayName": "Shop", "initiative": "messaging",
                        "initiativeContext": "https://bcrw.apple.com/1", "domainName": "shop.example.com",
                    ],
                ])
        }
    }

    @Test(
        "wrong options are refused without a request",
        arguments: [
            ["--partner", "shop-1", "--merchant", "merchant.a", "--domain", "a.example"], ["--domain", "a.example"],
            ["--partner", "shop-1"], ["--partner", "shop-1", "--team", "ABCDE12345", "--domain", "a.example"],
            ["--partner", "shop-1", "--messages-url", "https://a.example/"],
            ["--partner", "no spaces", "--domain", "a.example"], ["--merchant", "shop", "--domain", "a.example"],
        ])
    func wrongUsage(options: [String]) async throws {
        try await Self.with { program, daemon in
            let run = try await program.run(
                ["session", "request", "--display-name", "Shop", "--decryptor-socket", daemon.socketPath] + options)
            #expect(run.status == 2 && run.output.isEmpty, "\(run)")
            #expect(daemon.requests.isEmpty)
        }
    }

    @Test func `a refusal ends the command with status 1 and its code`() async throws {
        try await Self.with(.problem(422, "sessionDomainNotRegistered", "the domain is not registered")) {
            program, daemon in
            let run = try await program.run(
                ["session", "request", "--partner", "shop-1", "--decryptor-socket", daemon.socketPath] + Self.web)
            #expect(run.status == 1 && run.output.isEmpty)
            #expect(run.error.contains("sessionDomainNotRegistered"))
        }
    }

    @Test func `the client returns the bytes unchanged, and refuses a malformed identifier without a request`()
        async throws
    {
        try await Self.with { _, daemon in
            try await DecryptorClient.with(socketPath: daemon.socketPath) { client in
                let session = try await client.requestMerchantSession(
                    MerchantSessionParameters(
                        merchant: .registration("shop|1"), displayName: "Shop",
                        place: .messaging(url: "https://bcrw.apple.com/1", domainName: "shop.example.com"),
                        validationURL: "https://a.example/"))
                #expect(session == Array(Self.session.utf8))
                await #expect(throws: ClientError.self) {
                    try await client.requestMerchantSession(
                        MerchantSessionParameters(
                            merchant: .identifier("shop"), displayName: "Shop", place: .web(domain: "a.example")))
                }
            }
            let requests = try daemon.requests.map(Self.fields)
            #expect(
                requests == [
                    [
                        "partnerInternalMerchantIdentifier": "shop|1", "displayName": "Shop", "initiative": "messaging",
                        "initiativeContext": "https://bcrw.apple.com/1", "domainName": "shop.example.com",
                        "validationURL": "https://a.example/",
                    ]
                ])
        }
    }
}
