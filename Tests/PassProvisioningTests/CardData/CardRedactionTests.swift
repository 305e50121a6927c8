import PassProvisioning
import Testing

@Suite struct CardRedactionTests {
    /// Cards with mistakes: each value replaced by a secret or another wrong value, and each key by a secret.
    private func changes(of card: TestCard) -> [TestCard] {
        let number = TestCard.number(card.network)
        let secrets = ["\"\(number)\"", number, "\"\(TestCard.name)\"", "[\"\(number)\"]", "{\"\(number)\":1}", "null"]
        var changed: [TestCard] = []
        for member in card.members {
            for secret in secrets { changed.append(card.with(member.name, secret)) }
            changed.append(card.without(member.name).with(number, member.json))
            changed.append(card.without(member.name).with(TestCard.name, member.json))
        }
        changed.append(card.with("auxiliaryCards", "[{\"\(number)\":\"\(TestCard.name)\"}]"))
        changed.append(card.with("auxiliaryCards", "[\"\(number)\"]"))
        changed.append(card.with("version", "\"\(number)\""))
        return changed
    }

    @Test(arguments: TestCard.all)
    func `no finding contains a card number or a name`(_ card: TestCard) throws {
        var findings = card.plaintextFindings()
        for changed in changes(of: card) {
            findings += try changed.requestFindings()
            findings += changed.plaintextFindings()
        }
        #expect(findings.count > 20)
        let texts = findings.map { "\($0.message) \($0.action) \($0.key) \($0.description)" }
        #expect(texts.filter { $0.contains(TestCard.number(card.network)) } == [])
        #expect(texts.filter { $0.contains(TestCard.number(card.network).prefix(6)) } == [])
        #expect(texts.filter { $0.contains("MARIA") || $0.contains("MUSTERMANN") } == [])
    }

    @Test func `a duplicate key is not quoted, because it could be a value`() {
        let findings = TestCard.findings(#"{"5555555555554444":1,"5555555555554444":2}"#, network: .mastercard)
        #expect(findings.map(\.code) == ["duplicateKey"])
        #expect(findings.first?.message.contains("5555") == false)
    }

    @Test func `card data prints as redacted`() throws {
        let data = try TestCard.mastercard.cardData()
        #expect("\(data)" == "(redacted)")
        #expect(String(reflecting: data) == "(redacted)")
        #expect(Mirror(reflecting: data).children.isEmpty)
        var dumped = ""
        dump(data, to: &dumped)
        #expect(!dumped.contains("5555") && !dumped.contains("MARIA"))
    }

    @Test func `every kind of finding occurs in the tests`() throws {
        var kinds: Set<CardDataFinding.Kind> = []
        for limit in CardLimit.all {
            kinds.formUnion(try limit.card.with(limit.key, limit.json).requestFindings().map(\.kind))
        }
        for broken in PlaintextTests.all {
            kinds.formUnion(TestCard.findings(broken.bytes, network: broken.network).map(\.kind))
        }
        // The other tests of this directory check these.
        kinds.formUnion([
            .emptyCard, .missingKey, .forbiddenKey, .reservedKey, .unknownKey, .configurationNotAvailable,
            .configurationUnusual, .configurationNotValidated, .versionDeprecated, .nonceNotHexadecimal, .nonceBase64,
            .nonceHexTwice, .nonceTextDecoded, .nonceSignatureNotHexadecimal, .nonceSignatureBase64,
            .nonceSignatureHexTwice, .nonceSignatureTextDecoded, .nonceSignatureUnusualLength,
        ])
        #expect(Set(CardDataFinding.Kind.allCases).subtracting(kinds) == [])
    }
}
