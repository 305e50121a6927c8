import PassProvisioning
import Testing

@Suite struct CardKeyTests {
    /// A key, and the card of one network and configuration that has or lacks it.
    struct CardKey: Sendable, CustomTestStringConvertible {
        let card: TestCard
        let key: String
        var testDescription: String { "\(card.testDescription): \(key)" }
    }

    /// A valid value of each key that only one of the two published configurations has.
    static let values = [
        "encryptedPrimaryAccountNumber": "\"\(TestCard.encryptedNumber)\"", "expiration": #""04/31""#,
        "networkName": #""Visa""#, "primaryAccountNumber": #""4111111111111111""#,
        "primaryAccountNumberPrefix": #""411111""#,
    ]

    /// The cards of the configurations whose keys are published.
    static let published = TestCard.all.filter { $0.configuration != .networkSpecific }

    static let required: [CardKey] = published.flatMap { card in
        let keys =
            card.configuration == .cardNumber
            ? ["expiration", "name", "primaryAccountNumber", "productType"]
            : [
                "encryptedPrimaryAccountNumber", "name", "networkName", "primaryAccountNumberPrefix", "productType",
            ]
        return keys.map { CardKey(card: card, key: $0) }
    }

    static let forbidden: [CardKey] = published.flatMap { card in
        let keys =
            card.configuration == .cardNumber
            ? ["encryptedPrimaryAccountNumber", "networkName", "primaryAccountNumberPrefix"]
            : ["expiration", "primaryAccountNumber"]
        return keys.map { CardKey(card: card, key: $0) }
    }

    static let reserved: [CardKey] = TestCard.all.flatMap { card in
        ["nonce", "nonceSignature", "version"].map { CardKey(card: card, key: $0) }
    }

    @Test(arguments: required)
    func `a card without a required key is refused`(_ cardKey: CardKey) throws {
        let findings = try cardKey.card.without(cardKey.key).requestFindings()
        #expect(findings.map(\.code) == ["missingKey"])
        #expect(findings.map(\.key) == [cardKey.key])
    }

    @Test(arguments: forbidden)
    func `a card with a key of another configuration is refused`(_ cardKey: CardKey) throws {
        let value = try #require(Self.values[cardKey.key])
        let findings = try cardKey.card.with(cardKey.key, value).requestFindings().filter { $0.kind == .forbiddenKey }
        #expect(findings.map(\.key) == [cardKey.key])
    }

    @Test(arguments: reserved)
    func `a card with a key that the library writes is refused`(_ cardKey: CardKey) throws {
        let findings = try cardKey.card.with(cardKey.key, #""1""#).requestFindings()
        #expect(findings.map(\.code) == ["reservedKey"])
        #expect(findings.map(\.key) == [cardKey.key])
    }

    @Test(arguments: reserved)
    func `card data without a key that the library writes is refused`(_ cardKey: CardKey) {
        let members = cardKey.card.plaintextMembers.filter { $0.name != cardKey.key }
        let findings = TestCard.findings(TestCard.json(members), network: cardKey.card.network)
            .filter { !$0.isWarning }
        #expect(findings.map(\.code) == ["missingKey"])
        #expect(findings.map(\.key) == [cardKey.key])
    }

    @Test(arguments: TestCard.all)
    func `version 0 is refused as deprecated`(_ card: TestCard) throws {
        #expect(try card.with("version", #""0""#).requestFindings().map(\.code) == ["versionDeprecated"])
        let old = TestCard.json(card.plaintextMembers).replacing(#""version":"1""#, with: #""version":"0""#)
        let findings = TestCard.findings(old, network: card.network).filter { !$0.isWarning }
        #expect(findings.map(\.code) == ["versionDeprecated"])
    }

    @Test(arguments: published)
    func `an unknown key is refused, and the finding about a misspelt key names the right key`(
        _ card: TestCard
    ) throws {
        let unknown = try card.with("cardholder", #""x""#).requestFindings()
        #expect(unknown.map(\.code) == ["unknownKey"])
        #expect(unknown.first?.message.contains("'cardholder'") == true)
        let similar = try card.with("Auxiliary_Cards", "[]").requestFindings()
        #expect(similar.map(\.code) == ["unknownKey"])
        #expect(similar.map(\.key) == ["auxiliaryCards"])
    }

    @Test func `configuration 2 accepts unknown keys, but no known key in other case and no empty card`() throws {
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
