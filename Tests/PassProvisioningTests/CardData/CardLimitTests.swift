import Foundation
import PassProvisioning
import Testing

@Suite struct CardLimitTests {
    @Test(arguments: CardLimit.all)
    func `a value that crosses one limit has one finding, in the card and in the plaintext`(_ limit: CardLimit) throws {
        let card = limit.card.with(limit.key, limit.json)
        #expect(try card.requestFindings().map(\.code) == [limit.code])
        #expect(card.plaintextFindings().map(\.code) == [limit.code])
    }

    @Test func `values at the limits are accepted`() throws {
        let longest = "\"\(String(repeating: "a", count: 128))\""
        let cards = [
            TestCard.mastercard.with("name", longest).with("expiration", #""12/99""#),
            TestCard.mastercard.with("name", #""م""#).with("expiration", #""11/26""#),
            TestCard.visa.with("productType", "\"\(String(repeating: "a", count: 32))\""),
            TestCard.visa.with("networkName", #""V Pay""#),
            TestCard.visa.with(
                "encryptedPrimaryAccountNumber",
                "\"\(TestBase64.encode(Array("MBPAD-1-FK-APPLE-  -TDEA-0011223344556677".utf8)))\""),
        ]
        for card in cards {
            #expect(try card.requestFindings() == [])
            #expect(card.plaintextFindings() == [])
        }
    }

    /// The lengths that each network permits between 8 and 22 digits.
    static let lengths: [(ProvisioningNetwork, [Int])] = [
        (.mastercard, [16]), (.maestro, [12, 13, 14, 15, 16, 17, 18, 19]), (.visa, [13, 16, 19]),
        (.visaElectron, [16]), (.vPay, [13, 14, 15, 16, 17, 18, 19]), (.americanExpress, [15]),
        (.discover, [16, 17, 18, 19]),
    ]

    @Test(arguments: lengths)
    func `each network accepts only numbers of its lengths`(_ network: ProvisioningNetwork, _ permitted: [Int]) throws {
        for length in 8...22 {
            // Zeros have the check digit 0.
            let number = String(repeating: "0", count: length)
            let findings = try TestCard(.cardNumber, network).with("primaryAccountNumber", "\"\(number)\"")
                .requestFindings()
            #expect(findings.map(\.code) == (permitted.contains(length) ? [] : ["cardNumberLength"]))
        }
    }

    @Test func `a card is valid until its month is over in every time zone`() throws {
        let card = TestCard.mastercard.with("expiration", #""11/26""#)
        // 1 December 2026, 12:00 UTC
        let end = Date(timeIntervalSince1970: 1_796_126_400)
        #expect(try card.cardData(at: end.addingTimeInterval(-1)).warnings == [])
        let error = #expect(throws: CardDataFindings.self) { try card.cardData(at: end) }
        #expect(error?.all.map(\.code) == ["expirationPast"])
        let plaintext = Array(card.plaintext.utf8)
        plaintext.withUnsafeBytes { bytes in
            let found = CardData.findings(plaintext: bytes, network: .mastercard, at: end)
            #expect(found.map(\.code) == ["expirationPast"])
            #expect(CardData.findings(plaintext: bytes, network: .mastercard) == [])
        }
    }

    /// The first six digits of a card number, with the network to which they certainly belong; nil if unknown.
    static let ranges: [(String, ProvisioningNetwork?)] = [
        ("400000", .visa), ("499999", .visa), ("500000", nil), ("510000", .mastercard), ("559999", .mastercard),
        ("560000", nil), ("222099", nil), ("222100", .mastercard), ("272099", .mastercard), ("272100", nil),
        ("340000", .americanExpress), ("350000", nil), ("370000", .americanExpress), ("601099", nil),
        ("601100", .discover), ("601200", nil), ("643999", nil), ("644000", .discover), ("649999", .discover),
        ("650000", .discover), ("660000", nil), ("630400", nil), ("000000", nil),
    ]

    @Test(arguments: ranges)
    func `a prefix that certainly belongs to another company's network causes a warning that names this network`(
        _ prefix: String, _ owner: ProvisioningNetwork?
    ) throws {
        for network in ProvisioningNetwork.allCases {
            let card = TestCard(.encryptedCardNumber, network).with("primaryAccountNumberPrefix", "\"\(prefix)\"")
            let found = try card.requestFindings()
            let isOther = owner.map { $0.companyForTest != network.companyForTest } ?? false
            #expect(found.map(\.code) == (isOther ? ["cardNumberOtherNetwork"] : []))
            #expect(found.allSatisfy { $0.isWarning && $0.message.contains(owner?.rawValue ?? "no network") })
        }
    }

    @Test func `every single wrong digit is found by the check digit`() throws {
        let number = Array("4111111111111111".utf8)
        for index in number.indices {
            for digit in UInt8(ascii: "0")...UInt8(ascii: "9") where digit != number[index] {
                var wrong = number
                wrong[index] = digit
                let findings = try TestCard(.cardNumber, .visa)
                    .with("primaryAccountNumber", "\"\(String(decoding: wrong, as: UTF8.self))\"").requestFindings()
                #expect(findings.map(\.code) == ["cardNumberCheckDigit"])
            }
        }
    }

    @Test func `all findings of a card are reported together, in a fixed order`() throws {
        let card = TestCard.mastercard.without("productType").with("expiration", #""13/31""#)
            .with("primaryAccountNumber", #""1""#).with("extra", "1")
        #expect(
            try card.requestFindings().map(\.code)
                == ["unknownKey", "missingKey", "expirationMonth", "cardNumberLength"])
    }
}

extension ProvisioningNetwork {
    /// The network after which the company that operates this network is named.
    fileprivate var companyForTest: ProvisioningNetwork {
        switch self {
        case .mastercard, .maestro: .mastercard
        case .visa, .visaElectron, .vPay: .visa
        case .americanExpress: .americanExpress
        case .discover: .discover
        }
    }
}
