import MerchantCore
import Testing
import Vocabulary

@Suite struct RegistrationDriftTests {
    // swift-format-ignore: NeverForceUnwrap
    static let encryptTo = MerchantIdentifier("merchant.com.example")!
    /// printf merchant.com.example | sha256sum
    static let hash = "224D417877B0EBD0C882C2D68E557A781092803CC75887CC11D2D954D77EAC59"

    static func names(_ texts: String...) -> Set<DomainName> { Set(texts.compactMap { DomainName(ascii: $0) }) }

    let desired = DesiredRegistration(
        partnerMerchantName: "Shop", domainNames: names("a.example", "b.example"), encryptTo: encryptTo,
        merchantUrl: nil)

    func appleRecord(_ domains: Set<String>, name: String = "Shop", hash: String = hash) -> AppleRecord {
        AppleRecord(
            details: .init(partnerMerchantName: name, encryptToHash: hash, domainNames: domains),
            learnedAt: Timestamp(millisecondsSince1970: 0))
    }

    @Test func `an equal record has no drift, whatever the case of its hash`() {
        #expect(RegistrationDrift.between(desired, appleRecord(["a.example", "b.example"])).isEmpty)
        #expect(
            RegistrationDrift.between(desired, appleRecord(["a.example", "b.example"], hash: Self.hash.lowercased()))
                .isEmpty)
    }

    @Test func `each difference is found, and for a name or encryptTo with both values`() throws {
        let found = RegistrationDrift.between(
            desired, appleRecord(["b.example", "x.example"], name: "Other", hash: "AB"))
        #expect(
            found == [
                .missingDomain(try #require(DomainName(ascii: "a.example"))), .extraDomain("x.example"),
                .otherName(found: "Other", expected: "Shop"), .otherEncryptTo(found: "AB", expected: Self.hash),
            ])
        #expect(RegistrationDrift.between(desired, appleRecord([])).count == 2)
    }

    @Test func `a registration that Apple does not have is gone, unless no domain is desired`() {
        let absent = AppleRecord(details: nil, learnedAt: Timestamp(millisecondsSince1970: 0))
        var nothing = desired
        nothing.domainNames = []
        #expect(RegistrationDrift.between(desired, absent) == [.gone])
        #expect(RegistrationDrift.between(nothing, absent).isEmpty)
        #expect(
            RegistrationDrift.between(nothing, appleRecord(["x.example"], name: "Other")) == [.extraDomain("x.example")]
        )
    }

    @Test func `Apple's spelling of a domain name is normalized before it is compared`() throws {
        let details = try AppleRecord.Details(
            GatewayDetails(
                partnerInternalMerchantIdentifier: "p", partnerMerchantName: "Shop",
                domainNames: ["A.Example", "bücher.example", "not a name"], encryptTo: Self.hash))
        #expect(details.domainNames == ["a.example", "xn--bcher-kva.example", "not a name"])
    }

    @Test func `a response with a text that is too long, an empty domain or too many domains is refused`() {
        for (name, domains) in [
            (String(repeating: "x", count: 5000), ["a.example"]), ("Shop", [""]),
            ("Shop", [String(repeating: "x", count: 1025)]), ("Shop", [String](repeating: "a.example", count: 10_001)),
        ] {
            let error = #expect(throws: MerchantError.self) {
                try AppleRecord.Details(
                    GatewayDetails(
                        partnerInternalMerchantIdentifier: "p", partnerMerchantName: name, domainNames: domains,
                        encryptTo: Self.hash))
            }
            #expect(error?.code == .gatewayFailed)
        }
    }
}

@Suite struct RegistrationCallTests {
    private func register(_ domains: String..., name: String = "Shop") -> RegistrationCall.Content {
        .register(
            DesiredRegistration(
                partnerMerchantName: name, domainNames: Set(domains.compactMap { DomainName(ascii: $0) }),
                encryptTo: RegistrationDriftTests.encryptTo, merchantUrl: nil), merchant: nil)
    }

    private func unregister(_ domains: String...) -> RegistrationCall.Content {
        .unregister(Set(domains.compactMap { DomainName(ascii: $0) }), reason: "closed")
    }

    private func details(_ domains: Set<String>, name: String = "Shop") -> AppleRecord.Details {
        .init(partnerMerchantName: name, encryptToHash: RegistrationDriftTests.hash, domainNames: domains)
    }

    @Test func `Apple's record shows whether a call was done`() {
        #expect(register("a.example").isDone(in: details(["a.example", "b.example"])))
        #expect(!register("a.example").isDone(in: details(["b.example"])))
        #expect(!register("a.example").isDone(in: details(["a.example"], name: "Other")))
        #expect(!register("a.example").isDone(in: nil))
        #expect(unregister("a.example").isDone(in: nil))
        #expect(unregister("a.example").isDone(in: details(["b.example"])))
        #expect(!unregister("a.example", "b.example").isDone(in: details(["b.example"])))
    }

    @Test func `a call covers another only if it makes every part of the other irrelevant`() {
        #expect(register("a.example", "b.example").covers(register("a.example")))
        #expect(!register("a.example").covers(register("a.example", "b.example")))
        #expect(!register("a.example", name: "Other").covers(register("a.example")))
        #expect(unregister("a.example", "b.example").covers(unregister("a.example")))
        #expect(!unregister("a.example").covers(register("a.example")))
        #expect(!register("a.example").covers(unregister("a.example")))
    }

    @Test func `a late call undoes another if it does the opposite for a domain, or sets another name`() {
        let removal = RegistrationCall.Content.unregister(register("a.example").domainNames, reason: "closed")
        #expect(removal.isUndone(by: register("a.example", "b.example")))
        #expect(register("a.example", "b.example").isUndone(by: removal))
        #expect(!removal.isUndone(by: register("b.example")) && !removal.isUndone(by: removal))
        #expect(!register("a.example").isUndone(by: register("b.example")))
        #expect(register("a.example", name: "Other").isUndone(by: register("a.example")))
    }

    @Test func `the record after a confirmed call is derived only where Apple documents it`() {
        let now = Timestamp(millisecondsSince1970: 7)
        let before = AppleRecord(details: details(["a.example"]), learnedAt: Timestamp(millisecondsSince1970: 1))
        let added = register("b.example").applied(to: before, at: now)
        #expect(added?.details?.domainNames == ["a.example", "b.example"] && added?.learnedAt == now)
        #expect(register("b.example", name: "Other").applied(to: before, at: now) == nil)
        #expect(register("b.example").applied(to: nil, at: now)?.details?.domainNames == ["b.example"])
        #expect(unregister("a.example").applied(to: before, at: now)?.details == .some(nil))
        #expect(unregister("a.example").applied(to: nil, at: now) == nil)
    }
}
