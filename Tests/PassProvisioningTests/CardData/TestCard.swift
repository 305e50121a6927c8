import Foundation
import PassProvisioning
import Testing

/// A valid card of one network and configuration, whose members a test can change.
struct TestCard: Sendable, CustomTestStringConvertible {
    struct Member: Sendable {
        let name: String
        /// The value as JSON text.
        var json: String
    }

    /// 26 November 2026, 00:00 UTC. No test card has expired at this time.
    static let now = Date(timeIntervalSince1970: 1_795_651_200)
    static let name = "MARIA MUSTERMANN"
    static let nonce = "9c023c7e"
    /// 81 bytes, the length of the signatures of Apple's devices.
    static let nonceSignature = "40" + String(repeating: "5a17c9", count: 26) + "0102"
    /// `MBPAD-1-FK-KEY01--TDEA-00112233445566778899AABBCCDDEEFF` in Base64.
    static let encryptedNumber =
        "TUJQQUQtMS1GSy1LRVkwMS0tVERFQS0wMDExMjIzMzQ0NTU2Njc3ODg5OUFBQkJDQ0RERUVGRg=="

    let configuration: CardConfiguration
    let network: ProvisioningNetwork
    var members: [Member]

    init(_ configuration: CardConfiguration, _ network: ProvisioningNetwork) {
        self.configuration = configuration
        self.network = network
        let common = [Member(name: "productType", json: #""credit""#), Member(name: "name", json: "\"\(Self.name)\"")]
        switch configuration {
        case .cardNumber:
            members =
                common + [
                    Member(name: "primaryAccountNumber", json: "\"\(Self.number(network))\""),
                    Member(name: "expiration", json: #""04/31""#),
                ]
        case .networkSpecific: members = common + [Member(name: "networkData", json: #""A1B2""#)]
        case .encryptedCardNumber:
            members =
                common + [
                    Member(name: "encryptedPrimaryAccountNumber", json: "\"\(Self.encryptedNumber)\""),
                    Member(name: "primaryAccountNumberPrefix", json: "\"\(Self.number(network).prefix(6))\""),
                    Member(name: "networkName", json: "\"\(network.rawValue)\""),
                ]
        }
    }

    /// A published test number of the network.
    static func number(_ network: ProvisioningNetwork) -> String {
        switch network {
        case .mastercard: "5555555555554444"
        case .maestro: "6304000000000000"
        case .visa: "4111111111111111"
        case .visaElectron: "4917300800000000"
        case .vPay: "4012888888881881"
        case .americanExpress: "378282246310005"
        case .discover: "6011111111111117"
        }
    }

    /// One card for every configuration that each network can have.
    static let all: [TestCard] = ProvisioningNetwork.allCases.flatMap { network in
        CardConfiguration.allCases.filter { configuration in
            configuration != .networkSpecific || network == .americanExpress || network == .discover
        }
        .map { TestCard($0, network) }
    }

    static let mastercard = TestCard(.cardNumber, .mastercard)
    static let visa = TestCard(.encryptedCardNumber, .visa)
    static let amexSpecific = TestCard(.networkSpecific, .americanExpress)

    var testDescription: String { "\(network.rawValue), configuration \(configuration.rawValue)" }

    // MARK: - Changes

    func without(_ name: String) -> TestCard {
        var card = self
        card.members.removeAll { $0.name == name }
        return card
    }

    /// Adds a member, or replaces the member with this name.
    func with(_ name: String, _ json: String) -> TestCard {
        var card = without(name)
        card.members.append(Member(name: name, json: json))
        return card
    }

    // MARK: - JSON

    /// The caller's card, without the keys that the library writes.
    var json: String { Self.json(members) }

    /// The card data as another program could write it: keys in another order than the library's.
    var plaintextMembers: [Member] {
        members + [
            Member(name: "version", json: #""1""#), Member(name: "nonce", json: "\"\(Self.nonce)\""),
            Member(name: "nonceSignature", json: "\"\(Self.nonceSignature)\""),
        ]
    }

    var plaintext: String { Self.json(plaintextMembers) }

    static func json(_ members: [Member]) -> String {
        "{\(members.map { "\"\($0.name)\":\($0.json)" }.joined(separator: ","))}"
    }

    // MARK: - Results

    func cardData(at now: Date = Self.now) throws -> CardData {
        try CardData(
            configuration: configuration, network: network, card: Array(json.utf8),
            nonce: ProvisioningNonce(hex: Self.nonce), nonceSignature: NonceSignature(hex: Self.nonceSignature), at: now
        )
    }

    /// The findings of the library about the caller's card, without the warnings of the unchanged card.
    func requestFindings() throws -> [CardDataFinding] {
        do {
            return try cardData().warnings.filter { !usualWarnings.contains($0.code) }
        } catch let error as CardDataFindings {
            return error.all.filter { !usualWarnings.contains($0.code) }
        }
    }

    /// The findings of the library about the plaintext, without the warnings of the unchanged card.
    func plaintextFindings() -> [CardDataFinding] {
        Self.findings(plaintext, network: network).filter { !usualWarnings.contains($0.code) }
    }

    static func findings(_ plaintext: String, network: ProvisioningNetwork?) -> [CardDataFinding] {
        findings(Array(plaintext.utf8), network: network)
    }

    static func findings(_ plaintext: [UInt8], network: ProvisioningNetwork?) -> [CardDataFinding] {
        plaintext.withUnsafeBytes { CardData.findings(plaintext: $0, network: network, at: now) }
    }

    /// The warnings about an unchanged card of this network and configuration.
    private var usualWarnings: [String] {
        switch configuration {
        case .networkSpecific: ["configurationNotValidated"]
        case .cardNumber: [.visa, .visaElectron, .vPay].contains(network) ? ["configurationUnusual"] : []
        case .encryptedCardNumber: [.visa, .visaElectron, .vPay].contains(network) ? [] : ["configurationUnusual"]
        }
    }
}
