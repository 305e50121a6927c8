import AppleGateway
import Foundation
import MerchantCore
import MerchantTestSupport
import SandboxKit
import Testing
import Vocabulary

/// The gateway client with the sandbox and with a server in Python.
@Suite struct RegistrationTests {
    let fixture: GatewayFixture

    init() throws { fixture = try GatewayFixture.shared.get() }

    @Test(arguments: TestGatewayServer.allCases)
    func `domains can be registered, added, read, removed and unregistered`(server: TestGatewayServer) async throws {
        try await server.serve(fixture) { url in
            try await withGateway(fixture.gateway(url, fixture.files("good"))) { gateway in
                // The path keeps the special characters of the identifier's alphabet.
                let partner = try #require(PartnerInternalMerchantIdentifier("aZ09~-_+&@$!|,.;"))
                #expect(try await gateway.details(of: partner) == nil)
                try await gateway.register(.sample(partner.rawValue, ["a.example.com", "b.example.com"]))
                try await gateway.register(.sample(partner.rawValue, ["c.example.com"]))
                let details = try #require(try await gateway.details(of: partner))
                #expect(details.domainNames == ["a.example.com", "b.example.com", "c.example.com"])
                #expect(details.partnerInternalMerchantIdentifier == partner.rawValue)
                #expect(details.partnerMerchantName == "Größe & Söhne / \"Shop\"")
                // encryptTo is sent as an identifier and returned as a hash.
                #expect(details.encryptTo == MerchantIdentifierHash(of: GatewayFixture.merchant).hex.uppercased())
                try await gateway.unregister(partner, domainNames: [.sample("b.example.com")], reason: "moved")
                #expect(try await gateway.details(of: partner)?.domainNames == ["a.example.com", "c.example.com"])
                try await gateway.unregister(
                    partner, domainNames: [.sample("a.example.com"), .sample("c.example.com")], reason: "gone")
                #expect(try await gateway.details(of: partner) == nil)
                let again = await failure { () throws(GatewayError) in
                    try await gateway.unregister(partner, domainNames: [], reason: "gone")
                }
                #expect(again?.kind == .refused)
                #expect(again?.status == 400)
                #expect(again?.correlationIdentifier != nil)
                #expect(again?.mayHaveActed == false)
                #expect(gateway.health == .available)
            }
        }
    }

    @Test func `the 100th domain is refused, and the error has Apple's message and details`() async throws {
        try await withSandbox(fixture) { sandbox in
            try await withGateway(fixture.gateway(sandbox.url, fixture.files("good"))) { gateway in
                try await gateway.register(.sample("shop-1", (0..<99).map { "s\($0).example.com" }))
                let request = try GatewayRegistration.sample("shop-1", ["one.more.example.com"])
                let found = await failure { () throws(GatewayError) in try await gateway.register(request) }
                #expect(found?.kind == .refused)
                #expect(
                    found?.detail.contains("invalid or Malformed Json Received") == true, "\(String(describing: found))"
                )
                #expect(found?.detail.contains("more than 99 domains") == true)
                #expect(sandbox.registrations.merchants.first?.domainNames.count == 99)
            }
        }
    }

    @Test func `an identifier of 1,024 characters that all need encoding arrives complete`() async throws {
        try await withSandbox(fixture) { sandbox in
            try await withGateway(fixture.gateway(sandbox.url, fixture.files("good"))) { gateway in
                let partner = String(repeating: "|", count: 1024)
                try await gateway.register(.sample(partner))
                #expect(sandbox.registrations.merchants.map(\.partnerInternalMerchantIdentifier) == [partner])
                let identifier = try #require(PartnerInternalMerchantIdentifier(partner))
                #expect(try await gateway.details(of: identifier) != nil)
            }
        }
    }

    @Test func `registrations survive a restart of the sandbox, even if the last line of their file is incomplete`()
        async throws
    {
        let scratch = try Scratch()
        var settings = SandboxGateway.Settings()
        settings.registrationsPath = scratch.path("registrations.jsonl")
        for round in 0..<3 {
            let sandbox = try await SandboxGateway(authority: fixture.authority, settings: settings)
            try await withGateway(fixture.gateway(sandbox.url, fixture.files("good"))) { gateway in
                try await gateway.register(.sample("shop-\(round)"))
                let gone = try #require(PartnerInternalMerchantIdentifier("shop-\(round - 1)"))
                if round > 0 {
                    try await gateway.unregister(gone, domainNames: [.sample("shop.example.com")], reason: "gone")
                }
            }
            #expect(sandbox.registrations.merchants.map(\.partnerInternalMerchantIdentifier) == ["shop-\(round)"])
            await sandbox.stop()
            // An incomplete line, as a kill leaves it.
            let file = try FileHandle(forUpdating: URL(filePath: scratch.path("registrations.jsonl")))
            try file.seekToEnd()
            try file.write(contentsOf: Data(#"{"partnerInter"#.utf8))
            try file.close()
        }
    }
}
