import MerchantCore
import MerchantOperations
import MerchantTestSupport
import PortalServer
import Testing
import Vocabulary

/// What a merchant's forms do, and what the portal says about the merchant's keys.
@Suite struct PortalMerchantTests {
    /// Finds no file on any domain.
    private struct EmptySites: DomainChecker {
        func check(_ domain: DomainName, expecting file: [UInt8]) async -> DomainCheckReport {
            DomainCheckReport(
                domain: domain, url: "https://\(domain)/", address: "192.0.2.1", finding: .wrongStatus(404))
        }
    }

    private static let everyMerchant = MerchantScope(merchants: nil)

    private static func certificate(_ hash: PublicKeyHash) -> [UInt8] {
        Array("CERT:\(hash.hex):\(ServerFixture.merchant)".utf8)
    }

    @Test func `the form registers no domain whose check finds a problem`() async throws {
        try await ServerFixture.run(domainChecker: EmptySites()) { portal in
            _ = try await portal.operations.domains.setDomainFile([1], for: ServerFixture.request)
            let cookie = try await portal.signInMerchant()
            let page = "/merchant/domains"
            let reply = try await portal.form(
                page, of: page, ["domain=shop.example", "name=Shop"], cookie: cookie)
            #expect(reply.status == "422" && reply.body.contains("id=\"check-result\""), "\(reply)")
            let registrations = try await portal.operations.onboarding.registrations(
                of: ServerFixture.merchant, after: nil, limit: 9, in: Self.everyMerchant)
            #expect(registrations.isEmpty)
        }
    }

    @Test func `an upload of the current key's certificate has its own notice while another key waits for one`()
        async throws
    {
        try await ServerFixture.run { portal in
            let onboarding = portal.operations.onboarding
            func upload(_ hash: PublicKeyHash) async throws -> MerchantNotice {
                MerchantNotice(
                    upload: try await onboarding.storeCertificate(
                        Self.certificate(hash), for: ServerFixture.merchant, in: Self.everyMerchant,
                        for: ServerFixture.request))
            }
            func startRoll() async throws -> (view: RollView, isNew: Bool) {
                try await onboarding.startRoll(
                    of: ServerFixture.merchant, algorithm: nil, in: Self.everyMerchant, for: ServerFixture.request)
            }
            let present = try await startRoll().view.roll.to
            #expect(try await upload(present) == .certificateStored)
            #expect(try await upload(present) == .certificateStoredAlready)
            _ = try await portal.operations.transitions.promote(present, dryRun: false, for: ServerFixture.request)
            let missing = try await startRoll().view.roll.to
            #expect(missing != present)
            #expect(try await upload(present) == .presentCertificate)

            let cookie = try await portal.signInMerchant()
            let home = try await portal.curl("/", headers: [cookie])
            let state = try #require(home.body.firstMatch(of: /data-live-tag="[^"]*?([0-9a-zA-Z_-]{16,})[^"]*"/)?.1)
            let path = "/?done=\(MerchantNotice.presentCertificate.rawValue)&state=\(state)"
            let page = try await portal.curl(path, headers: [cookie])
            #expect(page.body.contains("role=\"alert\"") && page.body.contains(missing.base64), "\(page)")
            #expect(try await upload(missing) == .certificateStored)
            let later = try await portal.curl(path, headers: [cookie])
            #expect(!later.body.contains("role=\"alert\""), "\(later)")
        }
    }

    @Test func `the notice of a replacement says whether a new or a reserve key pair is used`() async throws {
        try await ServerFixture.run { portal in
            let onboarding = portal.operations.onboarding
            func start() async throws -> MerchantNotice {
                let started = try await onboarding.startRoll(
                    of: ServerFixture.merchant, algorithm: nil, in: Self.everyMerchant, for: ServerFixture.request)
                return MerchantNotice(started.view, isNew: started.isNew, generated: .rollStarted)
            }
            let key = try await onboarding.generateKeyPair(
                for: ServerFixture.merchant, algorithm: nil, in: Self.everyMerchant, for: ServerFixture.request
            ).keyPair.publicKeyHash
            _ = try await onboarding.storeCertificate(
                Self.certificate(key), for: ServerFixture.merchant, in: Self.everyMerchant, for: ServerFixture.request)
            #expect(try await start() == .rollStartedWithReserve)
            #expect(try await start() == .rollOpen)
            _ = try await portal.operations.transitions.promote(key, dryRun: false, for: ServerFixture.request)
            #expect(try await start() == .rollStarted)
        }
    }

    @Test func `for a merchant, the next step of a roll names no command of an admin`() async throws {
        try await ServerFixture.run { portal in
            let onboarding = portal.operations.onboarding
            let roll = try await onboarding.startRoll(
                of: ServerFixture.merchant, algorithm: nil, in: Self.everyMerchant, for: ServerFixture.request
            ).view.roll
            let cookie = try await portal.signInMerchant()
            func next() async throws -> String {
                let reply = try await portal.curl("/v1/rolls/\(roll.rollId)", headers: [cookie])
                #expect(reply.status == "200" && reply.body.contains("\"waitingFor\":\"merchant\""), "\(reply)")
                return reply.body
            }
            #expect(try await !next().contains("'key promote'"))
            _ = try await onboarding.storeCertificate(
                Self.certificate(roll.to), for: ServerFixture.merchant, in: Self.everyMerchant,
                for: ServerFixture.request)
            #expect(try await !next().contains("'key promote'"))
        }
    }
}
