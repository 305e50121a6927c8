import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

@Suite struct FleetOperationsTests {
    static let day = Duration.seconds(86_400)

    private func bench() async throws -> Bench {
        let bench = try await Bench()
        try await bench.add(Bench.shop, Bench.otherShop)
        return bench
    }

    private func add(_ identifier: String, name: String?, _ bench: Bench) async throws -> MerchantIdentifier {
        let merchant = try #require(MerchantIdentifier(identifier))
        _ = try await bench.operations.merchants.addMerchant(
            merchant, name: name, targetActiveKeyPairs: nil, for: bench.request)
        return merchant
    }

    private func generate(_ bench: Bench, for merchant: MerchantIdentifier) async throws -> PublicKeyHash {
        try await bench.operations.keys.generateKeyPair(
            for: merchant, algorithm: nil, purpose: .paymentProcessing, for: bench.request
        ).keyPair.publicKeyHash
    }

    /// Stores a certificate for 700 days, and promotes the key pair.
    private func certify(_ hash: PublicKeyHash, _ bench: Bench, of merchant: MerchantIdentifier) async throws {
        _ = try await bench.operations.certificates.storeCertificate(
            Bench.certificate(hash, of: merchant), for: merchant, for: bench.request)
        _ = try await bench.operations.transitions.promote(hash, dryRun: false, for: bench.request)
    }

    private func search(_ text: String, _ bench: Bench) async throws -> [FleetHit] {
        try await bench.operations.fleet.search(text).hits
    }

    // MARK: - Overview

    @Test func `the overview counts certificates by the week of their expiry, for 26 weeks`() async throws {
        let bench = try await bench()
        let hash = try await generate(bench, for: Bench.shop)
        try await certify(hash, bench, of: Bench.shop)
        var overview = try await bench.operations.fleet.overview()
        #expect(overview.weeks.count == 26 && overview.weeks.allSatisfy { $0.expiring.total == 0 })
        bench.clock.advance(by: Self.day * 600)
        overview = try await bench.operations.fleet.overview()
        let weeks = overview.weeks.enumerated().filter { $0.element.expiring.total > 0 }
        #expect(weeks.map(\.offset) == [14])
        #expect(weeks.first?.element.expiring == overview.weeks[14].expiring)
        #expect(overview.weeks[14].expiring.current == 1 && overview.weeks[14].expiring.notCurrent == 0)
        #expect(zip(overview.weeks, overview.weeks.dropFirst()).allSatisfy { $0.ends == $1.begins })
        bench.clock.advance(by: Self.day * 101)
        overview = try await bench.operations.fleet.overview()
        #expect(overview.expired.current == 1)
        #expect(overview.status.findings.first?.severity == .critical)
        #expect(overview.status.findings.map(\.severity) == overview.status.findings.map(\.severity).sorted(by: >))
    }

    @Test func `merchants below their target are listed in pages with their severity`() async throws {
        let bench = try await bench()
        let fleet = bench.operations.fleet
        let all = try await fleet.merchantsBelowTarget(after: nil, limit: 9)
        #expect(all.items.map(\.merchant.merchantIdentifier) == [Bench.otherShop, Bench.shop, Bench.integrator])
        #expect(all.items.allSatisfy { $0.severity == .notice } && !all.hasMore)
        let first = try await fleet.merchantsBelowTarget(after: nil, limit: 1)
        #expect(first.items.count == 1 && first.hasMore)
        let rest = try await fleet.merchantsBelowTarget(after: Bench.otherShop, limit: 2)
        #expect(rest.items.map(\.merchant.merchantIdentifier) == [Bench.shop, Bench.integrator] && !rest.hasMore)
    }

    // MARK: - Rolls

    @Test func `rolls are counted by state and by the party that must act`() async throws {
        let bench = try await bench()
        let (fleet, operations) = (bench.operations.fleet, bench.operations)
        func counts() async throws -> FleetRollCounts { try await fleet.overview().rolls }
        let old = try await generate(bench, for: Bench.shop)
        try await certify(old, bench, of: Bench.shop)
        bench.clock.advance(by: Self.day * 2)
        let roll = try await operations.rolls.startRoll(of: Bench.shop, algorithm: nil, for: bench.request).view.roll
        _ = try await operations.rolls.startRoll(of: Bench.otherShop, algorithm: nil, for: bench.request)
        #expect(try await counts().byState[.started] == 2)
        #expect(try await counts().byParty[.merchant] == 2)

        _ = try await operations.certificates.storeCertificate(
            Bench.certificate(roll.to, of: Bench.shop), for: Bench.shop, for: bench.request)
        #expect(try await counts().byParty[.merchant] == 2)
        #expect(try await counts().byParty[.admin] == 0)
        _ = try await operations.transitions.promote(roll.to, dryRun: false, for: bench.request)
        #expect(try await counts().byParty[.apple] == 1)
        operations.observedUses.recordDecryption(roll.to, at: bench.clock.now)
        try await operations.keyUses.storeUses(as: Bench.caller)
        #expect(try await counts().byParty[.time] == 1)
        bench.clock.advance(by: Self.day * 8)
        #expect(try await counts().byState[.quiet] == 1)
        #expect(try await counts().byParty[.admin] == 1)
        for (party, count) in try await counts().byParty where party != .admin && party != .merchant {
            #expect(count == 0, "\(party)")
        }
    }

    @Test func `a roll whose old key was exported waits for an admin, also before the first token`() async throws {
        let bench = try await bench()
        let old = try await generate(bench, for: Bench.shop)
        try await certify(old, bench, of: Bench.shop)
        bench.clock.advance(by: Self.day * 2)
        let roll = try await bench.operations.rolls.startRoll(
            of: Bench.shop, algorithm: nil, for: bench.request
        ).view.roll
        try await certify(roll.to, bench, of: Bench.shop)
        let now = bench.clock.now
        try await bench.repository.write { transaction in
            guard var keyPair = try transaction.keyPair(old) else { return }
            keyPair.exportedAt = now
            try transaction.update(keyPair)
        }
        let counts = try await bench.operations.fleet.overview().rolls
        #expect(counts.byParty[.admin] == 1 && counts.byParty[.apple] == 0)
    }

    // MARK: - Search

    @Test func `a search finds merchants by identifier, name, publicKeyHash and domain`() async throws {
        let bench = try await bench()
        let tea = try await add("merchant.com.tea", name: "Green Tea", bench)
        let hash = try await generate(bench, for: tea)
        try await bench.register("tea-1", ["teapots.example"], merchant: tea)
        try await bench.register("free-1", ["teatime.example"])
        let byIdentifier = FleetHit.Match.identifier
        #expect(try await search("merchant.com.tea", bench).map(\.match) == [byIdentifier])
        #expect(try await search("com.tea", bench).map(\.merchantIdentifier) == [tea])
        #expect(try await search(" EEN t ", bench).map(\.match) == [.name])
        for text in [hash.hex, String(hash.hex.prefix(12)), hash.base64, String(hash.base64URL.prefix(12))] {
            let hits = try await search(text, bench)
            #expect(hits.map(\.match) == [.key(hash, .pending)] && hits.first?.merchantName == "Green Tea")
        }
        let domains = try await search("tea", bench).filter { $0.match != .name && $0.match != byIdentifier }
        #expect(
            domains.map(\.match) == [
                .domain("teapots.example", partnerName("tea-1")), .domain("teatime.example", partnerName("free-1")),
            ])
        #expect(domains.map(\.merchantIdentifier) == [tea, nil])
        #expect(try await search("TEAPOTS.example", bench).count == 1)
        #expect(try await search("nothing like this", bench).isEmpty)
        let whole = try await bench.operations.fleet.search("com.example")
        #expect(Set(whole.hits.compactMap(\.merchantIdentifier)) == [Bench.shop, Bench.otherShop, Bench.integrator])
        #expect(!whole.hasMore)
    }

    @Test func `a merchant found by its identifier is not listed again for its name`() async throws {
        let bench = try await bench()
        _ = try await add("merchant.tea", name: "merchant.tea", bench)
        #expect(try await search("merchant.tea", bench).map(\.match) == [.identifier])
    }

    @Test(arguments: ["EEN-te", "ea.shop", "reen"])
    func `a search finds a part of an identifier and a part of a domain`(text: String) async throws {
        let bench = try await bench()
        let tea = try await add("merchant.com.green-tea", name: nil, bench)
        try await bench.register("tea-1", ["tea.shop.example"], merchant: tea)
        #expect(try await search(text, bench).map(\.merchantIdentifier) == [tea])
    }

    @Test func `a search lists each merchant once`() async throws {
        let bench = try await bench()
        let tea = try await add("merchant.tea", name: "Tea shop", bench)
        let cups = try await add("merchant.cups", name: "Cups for tea", bench)
        try await bench.register("tea-1", ["tea.example", "teapots.example", "www.tea.example"], merchant: tea)
        try await bench.register("cups-1", ["cups.example", "teacups.example"], merchant: cups)
        let hits = try await search("tea", bench)
        #expect(hits.map(\.merchantIdentifier) == [tea, cups])
        #expect(hits.first?.match == .identifier)
    }

    @Test func `a search has at most 50 results and says whether there are more`() async throws {
        let bench = try await bench()
        for number in 0..<50 { _ = try await add("merchant.n\(number)", name: "Flower shop", bench) }
        var result = try await bench.operations.fleet.search("flower")
        #expect(result.hits.count == 50 && !result.hasMore)
        _ = try await add("merchant.n50", name: "Flowers", bench)
        result = try await bench.operations.fleet.search("flower")
        #expect(result.hits.count == 50 && result.hasMore)
        result = try await bench.operations.fleet.search("merchant.n")
        #expect(result.hits.count == 50 && result.hasMore)
    }

    @Test(arguments: ["", " ", "a", " a ", "a\u{202E}b", "\u{1B}[2J", String(repeating: "x", count: 256)])
    func `a search text that is too short, too long or has control characters is refused`(text: String) async throws {
        let bench = try await bench()
        let found = await refusal { _ = try await search(text, bench) }
        #expect(found?.code == .malformed)
    }

    // MARK: - A merchant's page

    @Test func `a merchant's page has only data of this merchant, the newest first`() async throws {
        let bench = try await bench()
        let hash = try await generate(bench, for: Bench.shop)
        try await certify(hash, bench, of: Bench.shop)
        _ = try await generate(bench, for: Bench.otherShop)
        try await bench.register("shop-1", ["shop.example"], merchant: Bench.shop)
        let invitation = try await bench.operations.invitations.create(
            for: Bench.shop, expiresAt: nil, note: nil, for: bench.request
        ).invitation
        let page = try await bench.operations.fleet.merchant(Bench.shop)
        #expect(page.merchant.merchant.identifier == Bench.shop && page.merchant.activeKeyPairs == 1)
        #expect(page.progress.next?.name == .firstPayment)
        #expect(page.keys.map(\.keyPair.publicKeyHash) == [hash])
        #expect(page.registrations.items.count == 1 && page.rolls.items.isEmpty)
        #expect(page.invitations.items == [invitation])
        #expect(page.events.items.map(\.event.kind) == [.keyPromoted, .certificateStored])
        #expect(page.audit.items.first?.entry.action == .invitationCreated)
        #expect(page.audit.items.allSatisfy { $0.entry.merchantIdentifier == Bench.shop })
        let unknown = try #require(MerchantIdentifier("merchant.com.example.unknown"))
        let found = await refusal { _ = try await bench.operations.fleet.merchant(unknown) }
        #expect(found?.code == .merchantNotFound)
    }
}
