import PassProvisioning
import Testing

@Suite struct CardKeyTests {
    /// A key of one form.
    struct FormKey: Sendable, CustomTestStringConvertible {
        let card: TestCard
        let key: String
        var testDescription: String { "\(card.testDescription): \(key)" }
    }

    static let values = [
        "encryptedPrimaryAccountNumber": "\"\(TestCard.encryptedNumber)\"", "expiration": #""04/31""#,
        "networkName": #""Visa""#, "primaryAccountNumber": #""4111111111111111""#,
        "primaryAccountNumberPrefix": #""411111""#,
    ]

    /// The forms whose keys are published.
    static let published = TestCard.all.filter { $0.configuration != .networkSpecific }

    static let required: [FormKey] = published.flatMap { card in
        let keys =
            card.configuration == .cardNumber
            ? ["expiration", "name", "primaryAccountNumber", "productType"]
            : [
                "encryptedPrimaryAccountNumber", "name", "networkName", "primaryAccountNumberPrefix", "productType",
            ]
        return keys.map { FormKey(card: card, key: $0) }
    }

    static let forbidden: [FormKey] = published.flatMap { card in
        let keys =
            card.configuration == .cardNumber
            ? ["encryptedPrimaryAccountNumber", "networkName", "primaryAccountNumberPrefix"]
            : ["expiration", "primaryAccountNumber"]
        return keys.map { FormKey(card: card, key: $0) }
    }

    static let reserved: [FormKey] = TestCard.all.flatMap { card in
        ["nonce", "nonceSignature", "version"].map { FormKey(card: card, key: $0) }
    }

    @Test(arguments: required)
    func `a card without a required key is refused`(_ form: FormKey) throws {
        let findings = try form.card.without(form.key).requestFindings()
        #expect(findings.map(\.code) == ["missingKey"])
        #expect(findings.map(\.key) == [form.key])
    }

    @Test(arguments: forbidden)
    func `a card with a key of another configuration is refused`(_ form: FormKey) throws {
        let value = try #require(Self.values[form.key])
        let findings = try form.card.with(form.key, value).requestFindings().filter { $0.kind == .forbiddenKey }
        #expect(findings.map(\.key) == [form.key])
    }

    @Test(arguments: reserved)
    func `a card with a key that the library writes is refused`(_ form: FormKey) throws {
        let findings = try form.card.with(form.key, #""1""#).requestFindings()
        #expect(findings.map(\.code) == ["reservedKey"])
        #expect(findings.map(\.key) == [form.key])
    }

    @Test(arguments: reserved)
    func `card data without a key of the attempt is refused`(_ form: FormKey) {
        let members = form.card.plaintextMembers.filter { $0.name != form.key }
        let findings = TestCard.findings(TestCard.json(members), network: form.card.network)
            .filter { !$0.isWarning }
        #expect(findings.map(\.code) == ["missingKey"])
        #expect(findings.map(\.key) == [form.key])
    }

    @Test(arguments: TestCard.all)
    func `version 0 is refused as deprecated`(_ card: TestCard) throws {
        #expect(try card.with("version", #""0""#).requestFindings().map(\.code) == ["versionDeprecated"])
        let old = TestCard.json(card.plaintextMembers).replacing(#""version":"1""#, with: #""version":"0""#)
        let findings = TestCard.findings(old, network: card.network).filter { !$0.isWarning }
        #expect(findings.map(\.code) == ["versionDeprecated"])
    }

    @Test(arguments: published)
    func `an unknown key is refused, and a key in other case is named`(_ card: TestCard) throws {
        let unknown = try card.with("cardholder", #""x""#).requestFindings()
        #expect(unknown.map(\.code) == ["unknownKey"])
        #expect(unknown.first?.message.contains("'cardholder'") == true)
        let similar = try card.with("Auxiliary_Cards", "[]").requestFindings()
        #expect(similar.map(\.code) == ["unknownKey"])
        #expect(similar.map(\.key) == ["auxiliaryCards"])
    }

    @Test func `configuration 2 accepts unknown keys, but no key in other case and no empty card`() throws {
        let card = TestCard.amexSpecific
        #expect(try card.with("anotherKey", "[1,{}]").requestFindings() == [])
        #expect(try card.with("ProductType", #""x""#).requestFindings().map(\.code) == ["unknownKey"])
        var empty = card
        empty.members = []
        #expect(try empty.requestFindings().map(\.code) == ["emptyCard"])
    }

    @Test func `a value of the wrong type is refused`() throws {
        for json in ["5555555555554444", "null", "true", "[]", "{}"] {
            let findings = try TestCard.mastercard.with("primaryAccountNumber", json).requestFindings()
            #expect(findings.map(\.code) == ["wrongType"])
            #expect(findings.map(\.key) == ["primaryAccountNumber"])
        }
    }
}
