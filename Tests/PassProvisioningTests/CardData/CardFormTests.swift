import PassProvisioning
import Secrets
import Testing

@Suite struct CardFormTests {
    private func text(_ data: CardData) -> String {
        data.withSerializedBytes { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `card data of configuration 1 has the expected bytes, with its keys sorted by name`() throws {
        let data = try TestCard.mastercard.cardData()
        #expect(
            text(data)
                == #"{"expiration":"04/31","name":"MARIA MUSTERMANN","nonce":"9c023c7e","nonceSignature":""#
                + TestCard.nonceSignature
                + #"","primaryAccountNumber":"5555555555554444","productType":"credit","version":"1"}"#)
        #expect(data.warnings == [])
        #expect(data.lastFourDigits == "4444")
        #expect(data.count == text(data).utf8.count)
    }

    @Test func `card data of configuration 3 has the expected bytes, and no last four digits`() throws {
        let data = try TestCard.visa.cardData()
        #expect(
            text(data)
                == #"{"encryptedPrimaryAccountNumber":""# + TestCard.encryptedNumber
                + #"","name":"MARIA MUSTERMANN","networkName":"Visa","nonce":"9c023c7e","nonceSignature":""#
                + TestCard.nonceSignature
                + #"","primaryAccountNumberPrefix":"411111","productType":"credit","version":"1"}"#)
        #expect(data.warnings == [])
        #expect(data.lastFourDigits == nil)
    }

    @Test func `order, spacing and escapes of the card, and the case of hex digits, do not change the bytes`() throws {
        let card = TestCard.mastercard
        var changed = card
        changed.members.reverse()
        changed = changed.with("expiration", #""04\/31""#).with("name", #""M\u0041RIA MUSTERMANN""#)
        let spaced = changed.json.replacing(",", with: " ,\n\t").replacing(":", with: " : ")
        let data = try CardData(
            configuration: .cardNumber, network: .mastercard, card: Array(spaced.utf8),
            nonce: ProvisioningNonce(hex: TestCard.nonce.uppercased()),
            nonceSignature: NonceSignature(hex: TestCard.nonceSignature.uppercased()), at: TestCard.now)
        let unchanged = text(try card.cardData())
        #expect(text(data) == unchanged)
    }

    @Test func `the serialized copy has the same bytes`() throws {
        let data = try TestCard.visa.cardData()
        let copy = data.serialized()
        let copied = copy.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        #expect(copied == text(data))
    }

    @Test func `characters that JSON must escape are escaped, and others are written in UTF-8`() throws {
        let data = try TestCard.mastercard.with("name", #""Zo\u00eb \"Z\" \\ M\u00fcller\/X""#).cardData()
        #expect(text(data).contains(#""name":"Zoë \"Z\" \\ Müller/X""#))
        #expect(TestCard.findings(text(data), network: .mastercard) == [])
    }

    @Test(arguments: TestCard.all)
    func `card data of a valid card passes the checks of the request and the plaintext`(_ card: TestCard) throws {
        let written = text(try card.cardData())
        let findings = TestCard.findings(written, network: card.network).filter { !$0.isWarning }
        #expect(findings == [])
        #expect(try card.requestFindings() == [])
        #expect(card.plaintextFindings() == [])
    }

    @Test func `every network has configurations 1 and 3, and only two networks have configuration 2`() {
        #expect(TestCard.all.count == 16)
        for network in [ProvisioningNetwork.mastercard, .maestro, .visa, .visaElectron, .vPay] {
            let card = TestCard(.networkSpecific, network)
            let error = #expect(throws: CardDataFindings.self) { try card.cardData() }
            #expect(error?.all.map(\.code) == ["configurationNotAvailable"])
        }
    }

    @Test func `configuration 2 is reported as not validated`() throws {
        #expect(try TestCard.amexSpecific.cardData().warnings.map(\.code) == ["configurationNotValidated"])
        #expect(
            TestCard.findings(TestCard.amexSpecific.plaintext, network: .americanExpress).map(\.code)
                == ["configurationNotValidated"])
    }

    @Test func `a configuration that is not published for the network causes a warning`() throws {
        #expect(try TestCard(.cardNumber, .visa).cardData().warnings.map(\.code) == ["configurationUnusual"])
        #expect(
            try TestCard(.encryptedCardNumber, .discover).cardData().warnings.map(\.code) == ["configurationUnusual"])
    }

    @Test func `a co-badged card is written with its auxiliary cards`() throws {
        let auxiliary = #"[{"networkName":"Cartes Bancaires","primaryAccountNumber":"6304000000000000"}]"#
        let card = TestCard.mastercard.with("auxiliaryCards", auxiliary)
        let data = try card.cardData()
        #expect(text(data).hasPrefix(#"{"auxiliaryCards":"# + auxiliary + ","))
        #expect(data.warnings == [])
        #expect(card.plaintextFindings() == [])
    }
}
