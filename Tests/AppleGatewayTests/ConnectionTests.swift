import AppleGateway
import Foundation
import KeyCustody
import MerchantCore
import MerchantTestSupport
import OutboundHTTP
import Testing
import Vocabulary

/// Which connection a request uses.
@Suite struct ConnectionTests {
    let fixture: GatewayFixture

    init() throws { fixture = try GatewayFixture.shared.get() }

    /// - Parameter kept: how many identities the client keeps. If it keeps one, it reads the certificates again for
    ///   each request, because the requests alternate between two identities.
    @Test(arguments: [64, 1])
    func `each of two identities keeps one connection, and no request uses the other's`(kept: Int) async throws {
        let seen = Guarded<[(connection: Int, certificate: [UInt8]?)]>([])
        try await withSite(fixture) { request in
            seen.update { $0.append((request.connection, request.clientCertificate)) }
            return .answer(200, [:], [])
        } _: { site in
            let client = try fixture.client(keptIdentities: kept)
            let url = try #require(URL(string: "https://localhost:\(site.port)/"))
            let identities = try ["good", "other"].map { try fixture.files($0).identity(of: .platform, at: .now) }
            for number in 0..<20 {
                let identity = identities[number % 2]
                // A new value each time, as a source of identities returns it.
                let tls = TLSIdentity(
                    certificateChain: identity.certificateChain,
                    signatureSchemes: identity.signatureAlgorithms.map(\.rawValue)
                ) { scheme, bytes in
                    try identity.sign(try #require(TLSSignatureAlgorithm(rawValue: scheme)), bytes)
                }
                let response = try await client.send(OutboundRequest(url: url), identity: tls, within: .seconds(5))
                #expect(response.status == 200)
            }
            await client.shutdown()
            #expect(site.connections == 2)
            let requests = seen.value
            #expect(requests.count == 20)
            for (index, request) in requests.enumerated() {
                #expect(request.certificate == identities[index % 2].certificateChain.first)
                #expect(request.connection == index % 2 + 1)
            }
        }
    }

    @Test func `sessions of a merchant and of the platform use their own certificates and connections`() async throws {
        let merchant = try #require(MerchantIdentifier("merchant.com.example.shop"))
        let seen = Guarded<[Int: Set<[UInt8]?>]>([:])
        try await withSite(fixture) { request in
            seen.update { _ = $0[request.connection, default: []].insert(request.clientCertificate) }
            return .answer(200, [:], Array("{}".utf8))
        } _: { site in
            let table = IdentityTable(
                platform: try fixture.files("good"), merchants: [merchant: try fixture.files("other")])
            try await withGateway(fixture.gateway("https://localhost:\(site.port)", table)) { gateway in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for owner in [IdentityOwner.platform, .merchant(merchant)] {
                        group.addTask {
                            for _ in 0..<50 {
                                _ = try await gateway.requestSession(
                                    SessionTests.request, at: nil, as: owner, within: .seconds(5))
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            let good = try fixture.files("good").identity(of: .platform, at: .now).certificateChain.first
            let other = try fixture.files("other").identity(of: .platform, at: .now).certificateChain.first
            // Now and then a connection is opened because the last one is not back in the pool yet.
            #expect(seen.value.count < 20)
            #expect(Set(seen.value.values) == [[good], [other]])
        }
    }
}
