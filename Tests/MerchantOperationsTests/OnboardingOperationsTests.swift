import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

@Suite struct OnboardingOperationsTests {
    static let ownScope = MerchantScope(merchants: [Bench.shop])
    static let everyMerchant = MerchantScope(merchants: nil)

    private func bench() async throws -> Bench {
        let bench = try await Bench()
        try await bench.add(Bench.shop, Bench.otherShop)
        return bench
    }

    private func generate(
        _ bench: Bench, for merchant: MerchantIdentifier = Bench.shop, request: Request? = nil
    ) async throws -> PublicKeyHash {
        try await bench.operations.onboarding.generateKeyPair(
            for: merchant, algorithm: nil, in: MerchantScope(merchants: [merchant]), for: request ?? bench.request
        ).keyPair.publicKeyHash
    }

    private func upload(
        _ bytes: [UInt8], _ bench: Bench, for merchant: MerchantIdentifier? = Bench.shop,
        in scope: MerchantScope = OnboardingOperationsTests.ownScope
    ) async throws -> KeyView {
        try await bench.operations.onboarding.storeCertificate(bytes, for: merchant, in: scope, for: bench.request)
    }

    private func next(_ bench: Bench) async throws -> OnboardingProgress.StepName? {
        try await bench.operations.onboarding.progress(of: Bench.shop, in: Self.ownScope).next?.name
    }

    private func decryptToken(for hash: PublicKeyHash, _ bench: Bench) async throws {
        bench.operations.observedUses.recordDecryption(hash, at: bench.clock.now)
        try await bench.operations.keyUses.storeUses(as: Bench.caller)
    }

    // MARK: - From the first key pair to the roll

    @Test func `a merchant goes from the key pair to the first payment, and through a roll`() async throws {
        let bench = try await bench()
        let onboarding = bench.operations.onboarding
        #expect(try await next(bench) == .keyPair)
        let first = try await generate(bench)
        #expect(try await next(bench) == .appleCertificate)
        #expect(try await onboarding.keyPair(first, in: Self.ownScope).certificateSigningRequest?.isEmpty == false)
        let stored = try await upload(Bench.certificate(first, of: Bench.shop), bench)
        #expect(stored.keyPair.state == .standby)
        #expect(try await next(bench) == .activation)
        bench.clock.advance(by: .seconds(60))
        try await decryptToken(for: first, bench)
        // Without a roll, a decryption promotes a key pair only if no key pair of its algorithm is current.
        #expect(try await onboarding.keyPair(first, in: Self.ownScope).keyPair.state == .current)
        #expect(try await next(bench) == nil)
        bench.clock.advance(by: .seconds(86_400 * 2))

        #expect(try await onboarding.rollPreview(of: Bench.shop, in: Self.ownScope) == .generates)
        let (view, isNew) = try await onboarding.startRoll(
            of: Bench.shop, algorithm: nil, in: Self.ownScope, for: bench.request)
        #expect(isNew && view.roll.from == first)
        #expect(try await onboarding.rollPreview(of: Bench.shop, in: Self.ownScope) == .open)
        #expect(try await next(bench) == .appleCertificate)
        _ = try await upload(Bench.certificate(view.roll.to, of: Bench.shop), bench, for: nil)
        #expect(try await next(bench) == .activation)
        try await decryptToken(for: view.roll.to, bench)
        #expect(try await next(bench) == .oldKeyQuiet)
        bench.clock.advance(by: .seconds(86_400 * 8))
        #expect(try await next(bench) == .done)
        let quiet = try await onboarding.roll(view.roll.number, in: Self.ownScope)
        #expect(quiet.progress.state == .quiet)
        _ = try await bench.operations.rolls.finishRoll(
            view.roll.number, evenIfNotQuiet: false, reason: nil, dryRun: false, for: bench.request)
        #expect(try await next(bench) == nil)
        let rolls = try await onboarding.rolls(of: Bench.shop, before: nil, limit: 9, in: Self.ownScope)
        #expect(rolls.map(\.roll.number) == [view.roll.number])
    }

    @Test func `onboarding generates no key pair while a merchant has 4 without a certificate`() async throws {
        let bench = try await bench()
        let repeated = bench.keyedRequest("fourth")
        var hashes: [PublicKeyHash] = []
        for _ in 1..<OnboardingOperations.maximumPendingKeyPairs { hashes.append(try await generate(bench)) }
        hashes.append(try await generate(bench, request: repeated))
        let fifth = await refusal { _ = try await generate(bench) }
        let fifthWithKey = await refusal { _ = try await generate(bench, request: bench.keyedRequest("fifth")) }
        #expect([fifth, fifthWithKey].map { $0?.code } == [.tooManyPendingKeys, .tooManyPendingKeys])
        #expect(try await generate(bench, request: repeated) == hashes.last)
        _ = try await upload(Bench.certificate(hashes[0], of: Bench.shop), bench)
        _ = try await generate(bench)
        let list = try await bench.operations.onboarding.keyPairs(of: Bench.shop, in: Self.ownScope)
        #expect(list.count { $0.keyPair.state == .pending } == 4)
        // An admin is not limited.
        _ = try await bench.operations.keys.generateKeyPair(
            for: Bench.shop, algorithm: nil, purpose: .paymentProcessing, for: bench.request)
    }

    // MARK: - Certificates

    @Test func `a refused certificate does not show whether another merchant has its key pair`() async throws {
        let bench = try await bench()
        _ = try await generate(bench)
        let foreign = try await generate(bench, for: Bench.otherShop)
        let unknown = PublicKeyHash(of: [1])
        for scope in [Self.ownScope, MerchantScope(merchants: [Bench.shop, Bench.integrator])] {
            for merchant in [Bench.shop, nil] as [MerchantIdentifier?] {
                var details: [String] = []
                for hash in [foreign, unknown] {
                    let found = await refusal {
                        _ = try await upload(Bench.certificate(hash, of: Bench.shop), bench, for: merchant, in: scope)
                    }
                    #expect(found?.code == .certificateKeyUnknown)
                    details.append((found?.detail ?? "").replacing("\(hash)", with: "HASH"))
                }
                #expect(details[0] == details[1])
            }
        }
        let other = await refusal { _ = try await upload(Bench.certificate(foreign, of: Bench.otherShop), bench) }
        #expect(other?.code == .certificateForAnotherMerchant)
        let none = await refusal { _ = try await upload(Array("<html>".utf8), bench) }
        #expect(none?.code == .certificateMalformed)
        let key = await refusal { _ = try await upload(Array("KEY:1".utf8), bench) }
        #expect(key?.code == .privateKeyUploaded)
    }

    @Test func `another upload of a certificate changes nothing, and names any key pair that waits for a certificate`()
        async throws
    {
        let bench = try await bench()
        let first = try await generate(bench)
        let certificate = Bench.certificate(first, of: Bench.shop)
        let stored = try await upload(certificate, bench)
        #expect(!stored.isStoredAlready && stored.awaitedKey == nil)
        let repeated = try await upload(certificate, bench)
        #expect(repeated.isStoredAlready && repeated.awaitedKey == nil && repeated.warnings.isEmpty)
        bench.clock.advance(by: .seconds(60))
        try await decryptToken(for: first, bench)
        bench.clock.advance(by: .seconds(60))
        let roll = try await bench.operations.onboarding.startRoll(
            of: Bench.shop, algorithm: nil, in: Self.ownScope, for: bench.request
        ).view.roll
        let before = try await bench.audited().count
        for merchant in [Bench.shop, nil] as [MerchantIdentifier?] {
            let old = try await upload(certificate, bench, for: merchant)
            #expect(old.keyPair.publicKeyHash == first && old.isStoredAlready)
            #expect(old.awaitedKey == roll.to && old.warnings.count == 1)
        }
        #expect(try await bench.audited().count == before)
        let new = try await upload(Bench.certificate(roll.to, of: Bench.shop), bench)
        #expect(!new.isStoredAlready && new.awaitedKey == nil)
    }

    @Test func `the preview of a roll names the key pair that the roll would use, if it exists already`() async throws {
        let bench = try await bench()
        let onboarding = bench.operations.onboarding
        func preview() async throws -> RollPreview {
            try await onboarding.rollPreview(of: Bench.shop, in: Self.ownScope)
        }
        let first = try await generate(bench)
        #expect(try await preview() == .pending(first))
        _ = try await upload(Bench.certificate(first, of: Bench.shop), bench)
        try await decryptToken(for: first, bench)
        #expect(try await preview() == .generates)
        let reserve = try await generate(bench)
        #expect(try await preview() == .pending(reserve))
        bench.clock.advance(by: .seconds(86_400))
        _ = try await upload(Bench.certificate(reserve, of: Bench.shop), bench)
        #expect(try await preview() == .certified(reserve))
        let started = try await onboarding.startRoll(
            of: Bench.shop, algorithm: nil, in: Self.ownScope, for: bench.request
        ).view
        #expect(started.roll.to == reserve && started.progress.state == .certificateStored)
        #expect(try await preview() == .open)
    }

    @Test func `a certificate uploaded without a merchant is stored for the merchant in scope that has the key pair`()
        async throws
    {
        let bench = try await bench()
        let hash = try await generate(bench, for: Bench.otherShop)
        let certificate = Bench.certificate(hash, of: Bench.otherShop)
        let stored = try await upload(certificate, bench, for: nil, in: Self.everyMerchant)
        #expect(stored.keyPair.merchantIdentifier == Bench.otherShop && stored.keyPair.state == .standby)
    }

    // MARK: - Other merchants

    @Test func `a request for data of another merchant fails like one for data that does not exist`() async throws {
        let bench = try await bench()
        let onboarding = bench.operations.onboarding
        let key = try await generate(bench, for: Bench.otherShop)
        let roll = try await onboarding.startRoll(
            of: Bench.otherShop, algorithm: nil, in: Self.everyMerchant, for: bench.request
        ).view.roll.number
        try await bench.register("other", ["other.example"], merchant: Bench.otherShop)
        try await bench.register("nobody", ["nobody.example"])
        let unknown = try #require(MerchantIdentifier("merchant.com.example.unknown"))

        /// The errors of methods that take a merchant identifier.
        func errors(_ merchant: MerchantIdentifier, _ scope: MerchantScope) async -> Set<MerchantError?> {
            let request = bench.request
            return [
                await refusal { _ = try await onboarding.merchant(merchant, in: scope) },
                await refusal { _ = try await onboarding.progress(of: merchant, in: scope) },
                await refusal { _ = try await onboarding.keyPairs(of: merchant, in: scope) },
                await refusal {
                    _ = try await onboarding.generateKeyPair(for: merchant, algorithm: nil, in: scope, for: request)
                },
                await refusal {
                    _ = try await onboarding.startRoll(of: merchant, algorithm: nil, in: scope, for: request)
                },
                await refusal { _ = try await onboarding.rolls(of: merchant, before: nil, limit: 9, in: scope) },
                await refusal {
                    _ = try await onboarding.registrations(of: merchant, after: nil, limit: 9, in: scope)
                },
                await refusal {
                    _ = try await onboarding.register(Self.order("new", for: merchant), in: scope, for: request)
                },
                await refusal {
                    _ = try await onboarding.storeCertificate(
                        Bench.certificate(key, of: merchant), for: merchant, in: scope, for: request)
                },
            ]
        }
        let cases: [(MerchantIdentifier, MerchantScope)] = [
            (Bench.otherShop, Self.ownScope), (unknown, Self.ownScope), (unknown, Self.everyMerchant),
        ]
        for (merchant, scope) in cases {
            #expect(await errors(merchant, scope) == [MerchantError.merchantNotFound(merchant)])
        }
        let missingKey = PublicKeyHash(of: [9])
        for hash in [key, missingKey] {
            let found = await refusal { _ = try await onboarding.keyPair(hash, in: Self.ownScope) }
            #expect(found == MerchantError.keyNotFound(hash))
        }
        for number in [roll, 999] {
            let found = await refusal { _ = try await onboarding.roll(number, in: Self.ownScope) }
            #expect(found == MerchantError.rollNotFound(number))
        }
        for partner in ["other", "nobody", "missing"].map(partnerName) {
            let read = await refusal {
                _ = try await onboarding.registration(partner, in: Self.ownScope, for: bench.request)
            }
            let removal = await refusal {
                _ = try await onboarding.unregister(
                    partner, domainNames: nil, reason: "closed", dryRun: false, in: Self.ownScope, for: bench.request)
            }
            let notFound = MerchantError.registrationNotFound(partner)
            #expect(read == notFound && removal == notFound)
        }
        #expect(bench.atApple("other") == ["other.example"])
        #expect(try await onboarding.owner(ofKey: key) == Bench.otherShop)
        #expect(try await onboarding.owner(ofRoll: roll) == Bench.otherShop)
        #expect(try await onboarding.owner(ofRegistration: partnerName("other")) == Bench.otherShop)
    }

    // MARK: - Registrations

    private static func order(
        _ partner: String, for merchant: MerchantIdentifier?, _ domains: [String] = ["a.example"],
        encryptTo: MerchantIdentifier? = nil
    ) -> RequestedRegistration {
        RequestedRegistration(
            partnerInternalMerchantIdentifier: partnerName(partner), partnerMerchantName: "Shop",
            domainNames: domainNames(domains), encryptTo: encryptTo, merchantUrl: nil, merchantIdentifier: merchant)
    }

    @Test func `a merchant registers, lists and unregisters its own domains`() async throws {
        let bench = try await bench()
        let onboarding = bench.operations.onboarding
        let partner = OnboardingOperations.defaultPartner(for: Bench.shop)
        #expect(partner.rawValue == Bench.shop.rawValue)
        let view = try await onboarding.register(
            Self.order(partner.rawValue, for: Bench.shop, ["a.example", "b.example"]), in: Self.ownScope,
            for: bench.request)
        #expect(view.registration.merchantIdentifier == Bench.shop)
        let list = try await onboarding.registrations(of: Bench.shop, after: nil, limit: 9, in: Self.ownScope)
        #expect(list.map(\.registration.partnerInternalMerchantIdentifier) == [partner])
        _ = try await onboarding.unregister(
            partner, domainNames: domainNames(["a.example"]), reason: "moved", dryRun: false, in: Self.ownScope,
            for: bench.request)
        #expect(bench.atApple(partner.rawValue) == ["b.example"])
        let shown = try await onboarding.registration(partner, in: Self.ownScope, for: bench.request)
        #expect(shown.registration.desired.domainNames == Set(domainNames(["b.example"])))
    }

    @Test func `a new registration encrypts to the merchant, and an existing one keeps its encryptTo`() async throws {
        let bench = try await bench()
        let onboarding = bench.operations.onboarding
        func register(_ partner: String, _ domains: [String]) async throws -> RegistrationView {
            try await onboarding.register(
                Self.order(partner, for: Bench.shop, domains), in: Self.ownScope, for: bench.request)
        }
        let own = try await register("own", ["a.example"])
        #expect(own.registration.desired.encryptTo == Bench.shop)
        #expect(bench.gateway.records[partnerName("own")]?.encryptTo == Bench.shop)
        // The merchant has no key pair yet.
        #expect(own.warnings.count == 1)
        let key = try await generate(bench)
        _ = try await upload(Bench.certificate(key, of: Bench.shop), bench)
        #expect(try await register("own", ["b.example"]).warnings.isEmpty)

        // Registered by an admin, whose default is the platform.
        try await bench.register("platform", ["c.example"], merchant: Bench.shop)
        let kept = try await register("platform", ["d.example"])
        #expect(kept.registration.desired.encryptTo == Bench.integrator)
        #expect(bench.gateway.records[partnerName("platform")]?.encryptTo == Bench.integrator)
    }

    @Test func `a registration has a warning if its merchant has a key, but is not its encryptTo`() async throws {
        let bench = try await bench()
        for merchant in [Bench.integrator, Bench.shop] {
            let key = try await generate(bench, for: merchant)
            _ = try await upload(
                Bench.certificate(key, of: merchant), bench, for: merchant, in: Self.everyMerchant)
        }
        let other = try await bench.register("platform", ["c.example"], merchant: Bench.shop)
        #expect(other.warnings.count == 1 && other.warnings.first?.contains("\(Bench.shop)") == true)
        #expect(try await bench.register("none", ["d.example"]).warnings.isEmpty)
        let own = try await bench.register("own", ["e.example"], encryptTo: Bench.shop, merchant: Bench.shop)
        #expect(own.warnings.isEmpty)
    }

    @Test func `a merchant cannot take over a registration, or choose another merchant's key`() async throws {
        let bench = try await bench()
        let onboarding = bench.operations.onboarding
        try await bench.register("other", ["other.example"], merchant: Bench.otherShop)
        try await bench.register("nobody", ["nobody.example"])
        let orders = [
            Self.order("other", for: Bench.shop), Self.order("nobody", for: Bench.shop), Self.order("new", for: nil),
            Self.order("new", for: Bench.shop, encryptTo: Bench.otherShop),
        ]
        for order in orders {
            let found = await refusal {
                _ = try await onboarding.register(order, in: Self.ownScope, for: bench.request)
            }
            #expect(found?.code == .malformed)
        }
        #expect(bench.atApple("other") == ["other.example"] && bench.atApple("new") == nil)
        _ = try await onboarding.register(
            Self.order("new", for: Bench.shop, encryptTo: Bench.integrator), in: Self.ownScope, for: bench.request)
        _ = try await onboarding.register(
            Self.order("own", for: Bench.shop, encryptTo: Bench.shop), in: Self.ownScope, for: bench.request)
    }

    @Test func `a registration cannot be named after another merchant, whether that merchant exists or not`()
        async throws
    {
        let bench = try await bench()
        var refusals: [MerchantError?] = []
        for partner in [Bench.otherShop.rawValue, "merchant.com.example.unknown", Bench.integrator.rawValue] {
            refusals.append(
                await refusal {
                    _ = try await bench.operations.onboarding.register(
                        Self.order(partner, for: Bench.shop), in: Self.everyMerchant, for: bench.request)
                })
            #expect(bench.atApple(partner) == nil)
        }
        #expect(refusals.first??.code == .malformed)
        #expect(Set(refusals).count == 1)
    }

    @Test func `a domain is checked against the file of the platform`() async throws {
        let bench = try await bench()
        let onboarding = bench.operations.onboarding
        let missing = await refusal { _ = try await onboarding.domainFile() }
        #expect(missing?.code == .domainFileNotSet)
        _ = try await bench.operations.domains.setDomainFile([1, 2, 3], for: bench.request)
        #expect(try await onboarding.domainFile().bytes == [1, 2, 3])
        let domain = try #require(domainNames(["a.example"]).first)
        #expect(try await onboarding.checkDomain(domain).hasPassed)
    }

    @Test func `the scope of a permit has the merchants of every grant that gives the permit`() {
        let own = Grant(permits: [.onboard, .read], merchants: [Bench.shop])
        let other = Grant(permits: [.read], merchants: [Bench.otherShop])
        let all = Grant(permits: [.read], merchants: nil)
        #expect(MerchantScope(.onboard, in: [own, other]) == Self.ownScope)
        #expect(MerchantScope(.read, in: [own, other]).merchants == [Bench.shop, Bench.otherShop])
        #expect(MerchantScope(.read, in: [own, all]) == Self.everyMerchant)
        #expect(MerchantScope(.onboard, in: [all]).merchants == [])
        #expect(!MerchantScope(.onboard, in: [all]).contains(Bench.shop))
    }
}
