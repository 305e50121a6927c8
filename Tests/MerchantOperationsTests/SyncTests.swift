import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Synchronization
import Testing
import Vocabulary

@Suite("Unregistering, details and sync") struct SyncTests {
    @Test("domains can be removed in several requests; Apple gets each reason; an unregistered domain is refused")
    func unregister() async throws {
        let bench = try await Bench()
        try await bench.register("shop-1", ["a.example", "b.example", "c.example"])
        let dry = try await bench.unregister("shop-1", ["a.example"], dryRun: true)
        #expect(dry.domainNames == domainNames(["a.example"]) && bench.gateway.changes.count == 1)
        let some = try await bench.unregister("shop-1", ["a.example"])
        #expect(some.warnings.isEmpty && some.view.registration.desired.domainNames.count == 2)
        #expect(
            bench.gateway.changes.last
                == .unregister(partnerName("shop-1"), domainNames(["a.example"]), reason: "closed"))
        #expect(await refusal { try await bench.unregister("shop-1", ["a.example"]) }?.code == .domainNotRegistered)
        let all = try await bench.unregister("shop-1")
        #expect(all.domainNames == domainNames(["b.example", "c.example"]) && all.warnings.count == 1)
        #expect(bench.atApple("shop-1") == nil)
        #expect(await refusal { try await bench.unregister("shop-1") }?.code == .registrationNotFound)
        #expect(
            await refusal {
                _ = try await bench.operations.registrations.registration(
                    partnerName("shop-1"), refresh: true, for: bench.request)
            }?.code == .registrationNotFound)
        #expect(try await bench.operations.registrations.registrations(after: nil, limit: 10).isEmpty)
    }

    @Test("a registration that Apple lost is removed without a call that changes Apple's record")
    func unregisterGone() async throws {
        let bench = try await Bench()
        try await bench.register("shop-1", ["a.example"])
        bench.gateway.records = [:]
        try await bench.unregister("shop-1")
        #expect(bench.gateway.changes.count == 1)
        #expect(try await bench.sync().findings.isEmpty)
    }

    @Test("details are the daemon's own record and its age; with refresh, they are Apple's record")
    func details() async throws {
        let bench = try await Bench()
        let partner = partnerName("shop-1")
        try await bench.register("shop-1", ["a.example"])
        bench.gateway.records[partner]?.domains = Set(domainNames(["b.example"]))
        bench.clock.advance(by: .seconds(90))
        let stored = try await bench.operations.registrations.registration(partner, refresh: false, for: bench.request)
        #expect(stored.source == .mirror && stored.registration.drift.isEmpty)
        #expect(stored.registration.appleRecord?.learnedAt.adding(.seconds(90)) == stored.at)
        let apple = try await bench.operations.registrations.registration(partner, refresh: true, for: bench.request)
        #expect(apple.source == .apple && apple.registration.appleRecord?.details?.domainNames == ["b.example"])
        #expect(
            apple.registration.drift == [
                .missingDomain(domainNames(["a.example"])[0]), .extraDomain("b.example"),
            ])
        #expect(bench.gateway.changes.count == 1)
        let unknown = await refusal {
            _ = try await bench.operations.registrations.registration(
                partnerName("nobody"), refresh: true, for: bench.request)
        }
        #expect(unknown?.code == .registrationNotFound)
    }

    @Test("sync finds each kind of drift and changes nothing at Apple; with repair, Apple matches the desired state")
    func drift() async throws {
        let bench = try await Bench()
        let other = try #require(MerchantIdentifier("merchant.com.example.other"))
        for partner in ["gone", "missing", "extra", "name", "encrypt", "fine", "mixed"] {
            try await bench.register(partner, ["a.example", "b.example"])
        }
        bench.gateway.records[partnerName("gone")] = nil
        bench.gateway.records[partnerName("missing")]?.domains.remove(domainNames(["a.example"])[0])
        bench.gateway.records[partnerName("extra")]?.domains.insert(domainNames(["x.example"])[0])
        bench.gateway.records[partnerName("name")]?.name = "Somebody"
        bench.gateway.records[partnerName("encrypt")]?.encryptTo = other
        bench.gateway.records[partnerName("mixed")] = .init(
            name: "Somebody", encryptTo: other, domains: Set(domainNames(["x.example"])))
        // A registration of another system at Apple, which sync must not change.
        bench.gateway.records[partnerName("foreign")] = .init(
            name: "F", encryptTo: other, domains: Set(domainNames(["f.example"])))
        let recordsBefore = bench.gateway.records
        bench.gateway.forgetCalls()

        let report = try await bench.sync()
        #expect(report.compared == 7 && report.next == nil && report.halted == nil)
        let kinds = Dictionary(
            uniqueKeysWithValues: report.findings.map {
                ($0.partnerInternalMerchantIdentifier.rawValue, $0.drift.map(\.kind))
            })
        #expect(
            kinds == [
                "gone": [.gone], "missing": [.missingDomain], "extra": [.extraDomain], "name": [.otherName],
                "encrypt": [.otherEncryptTo],
                "mixed": [.missingDomain, .missingDomain, .extraDomain, .otherName, .otherEncryptTo],
            ])
        #expect(bench.gateway.changes.isEmpty && bench.gateway.records == recordsBefore)

        let repaired = try await bench.sync(repair: true)
        #expect(repaired.findings.count == 6 && repaired.findings.allSatisfy { $0.repaired == true }, "\(repaired)")
        for (partner, record) in bench.gateway.records where partner.rawValue != "foreign" {
            #expect(record.domains == Set(domainNames(["a.example", "b.example"])), "\(partner)")
            #expect(record.name == "Shop" && record.encryptTo == Bench.integrator, "\(partner)")
        }
        #expect(bench.gateway.records[partnerName("foreign")] == recordsBefore[partnerName("foreign")])
        #expect(try await bench.sync().findings.isEmpty)
        #expect(try await bench.audited().contains { $0.action == .registrationDriftFound })
    }

    @Test("sync repairs a full registration by removing domains before adding others")
    func repairFull() async throws {
        let bench = try await Bench()
        let wanted = (0..<99).map { "d\($0).example" }
        try await bench.register("full", wanted)
        bench.gateway.records[partnerName("full")]?.domains = Set(
            domainNames((0..<98).map { "d\($0).example" } + ["x.example"]))
        #expect(try await bench.sync(repair: true).findings.map(\.repaired) == [true])
        #expect(bench.atApple("full") == Set(wanted))
    }

    @Test("sync stops when Apple limits the rate, and returns where to continue")
    func halts() async throws {
        let left = Mutex(Int.max)
        let bench = try await Bench(
            gateway: ScriptedGateway(fault: { _ in
                left.withLock { left in
                    left -= 1
                    return left < 0 ? .rateLimited : nil
                }
            }))
        for number in 100..<160 { try await bench.register("shop-\(number)", ["a.example"]) }
        var cursor: PartnerInternalMerchantIdentifier?
        var compared = 0
        var halts = 0
        repeat {
            left.withLock { $0 = 25 }
            let report = try await bench.operations.registrationSync.sync(
                after: cursor, limit: 50, repair: false, for: bench.request)
            compared += report.compared
            if let halted = report.halted {
                halts += 1
                #expect(halted.code == .gatewayRateLimited && halted.retryAfter == 7 && report.next != nil)
            }
            cursor = report.next
        } while cursor != nil
        #expect(compared == 60 && halts >= 2)
        left.withLock { $0 = 0 }
        #expect(await refusal { _ = try await bench.sync() }?.code == .gatewayRateLimited)
    }

    @Test("the domain file is stored byte for byte, its size is limited, and its changes are recorded")
    func domainFile() async throws {
        let bench = try await Bench()
        #expect(await refusal { _ = try await bench.operations.domains.domainFile() }?.code == .domainFileNotSet)
        let bytes: [UInt8] = [0, 13, 10, 255, 0]
        _ = try await bench.operations.domains.setDomainFile(bytes, for: bench.request)
        _ = try await bench.operations.domains.setDomainFile(bytes, for: bench.request)
        #expect(try await bench.operations.domains.domainFile().bytes == bytes)
        #expect(try await bench.audited().count { $0.action == .domainFileChanged } == 1)
        #expect(
            await refusal { _ = try await bench.operations.domains.setDomainFile([], for: bench.request) }?.code
                == .malformed)
        let large = [UInt8](repeating: 48, count: 65_537)
        #expect(
            await refusal { _ = try await bench.operations.domains.setDomainFile(large, for: bench.request) }?.code
                == .tooLarge
        )
    }

    @Test("of several identity keys, the newest valid one is listed first")
    func identityKeys() async throws {
        let bench = try await Bench()
        let keys = try await (0..<3).asyncMap { _ in
            try await bench.operations.keys.generateKeyPair(
                for: Bench.integrator, algorithm: nil, purpose: .identity, for: bench.request
            ).keyPair
        }
        let now = bench.clock.now
        let day = Duration.seconds(86_400)
        try await bench.repository.write { transaction in
            for (keyPair, (begins, ends)) in zip(keys, [(-300, -1), (-200, 500), (-100, 600)]) {
                var active = keyPair
                active.state = .standby
                try transaction.update(active)
                _ = try transaction.insert(
                    StoredCertificate(
                        der: [1], fingerprint: keyPair.publicKeyHash.bytes, serialNumber: "1", subject: "", issuer: "",
                        notBefore: now.adding(day * begins), notAfter: now.adding(day * ends), issuerVerified: true,
                        storedAt: now), of: keyPair.publicKeyHash)
            }
        }
        let other = try #require(MerchantIdentifier("merchant.com.example.other"))
        for (owner, platform, expected) in [
            (IdentityOwner.platform, nil, [2, 1, 0]), (.platform, Bench.integrator, [2, 1, 0]),
            (.merchant(Bench.integrator), nil, [2, 1, 0]), (.platform, other, []),
        ] {
            let found = try await bench.repository.read { try $0.identityKeys(of: owner, platform: platform, at: now) }
            #expect(found.map(\.keyPair.publicKeyHash) == expected.map { keys[$0].publicKeyHash })
        }
    }
}

extension Sequence {
    fileprivate func asyncMap<Result>(_ body: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await body(element)) }
        return results
    }
}
