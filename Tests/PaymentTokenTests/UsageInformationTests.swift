import Crypto
import Foundation
import PaymentToken
import Testing
import Vocabulary

@Suite("Usage information of a merchant token")
struct UsageInformationTests {
    static let identifier = "DAPLMC0000"
    let merchant = P384.KeyAgreement.PrivateKey()
    let token = P384.KeyAgreement.PrivateKey()

    private func encrypt(
        _ content: [UInt8], identifier: String = Self.identifier, publicKey: [UInt8]? = nil
    ) throws -> MerchantTokenUsageInformation {
        try MerchantTokenUsageInformation(
            encrypting: content, merchantTokenIdentifier: identifier,
            merchantTokenPublicKey: publicKey ?? Array(token.publicKey.x963Representation),
            merchantPrivateKey: merchant)
    }

    /// Decrypts a package as the device does.
    static func open(
        data: String, ephemeralPublicKey: String, identifier: String, token: P384.KeyAgreement.PrivateKey,
        merchant: P384.KeyAgreement.PublicKey, associatedData: [UInt8] = []
    ) throws -> [UInt8] {
        let info =
            Data("ApplePayMerchantTokenUsageInformation_1.0".utf8) + Data(SHA256.hash(data: Data(identifier.utf8)))
        var recipient = try HPKE.Recipient(
            privateKey: token, ciphersuite: .P384_SHA384_AES_GCM_256, info: info,
            encapsulatedKey: try #require(Data(base64Encoded: ephemeralPublicKey)), authenticatedBy: merchant)
        return Array(
            try recipient.open(try #require(Data(base64Encoded: data)), authenticating: Data(associatedData)))
    }

    private func open(
        _ information: MerchantTokenUsageInformation, identifier: String = Self.identifier,
        token: P384.KeyAgreement.PrivateKey? = nil, merchant: P384.KeyAgreement.PublicKey? = nil
    ) throws -> [UInt8] {
        try Self.open(
            data: information.data, ephemeralPublicKey: information.ephemeralPublicKey, identifier: identifier,
            token: token ?? self.token, merchant: merchant ?? self.merchant.publicKey)
    }

    @Test("The device decrypts packages of up to 2,984 bytes, and data has at most 4,000 characters")
    func lengths() throws {
        #expect(MerchantTokenUsageInformation.longestPackage == 2_984)
        for count in [0, 1, 2, 3, 1_000, 2_983, 2_984] {
            let content = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
            let information = try encrypt(content)
            #expect(information.data.count == (count + 16 + 2) / 3 * 4 && information.data.count <= 4_000)
            #expect(try open(information) == content)
        }
    }

    @Test("A package that is too long is rejected")
    func tooLong() {
        let error = #expect(throws: PaymentTokenError.self) { try encrypt([UInt8](repeating: 1, count: 2_985)) }
        #expect(error?.code == .malformed && error?.detail.contains("2984") == true)
    }

    @Test("The value is encoded as the six fields of Apple's response")
    func fields() throws {
        let information = try encrypt(Array("{}".utf8))
        let encoded = try JSONEncoder().encode(information)
        let fields = try JSONDecoder().decode([String: String].self, from: encoded)
        let info =
            Data("ApplePayMerchantTokenUsageInformation_1.0".utf8) + Data(SHA256.hash(data: Data(Self.identifier.utf8)))
        #expect(
            fields == [
                "ciphersuite": "HPKE_AUTH_P384_SHA384_AES_GCM_256", "data": information.data,
                "ephemeralPublicKey": information.ephemeralPublicKey,
                "infoHash": Hex.encode(SHA256.hash(data: info)),
                "merchantPublicKeyHash": Hex.encode(SHA256.hash(data: merchant.publicKey.x963Representation)),
                "merchantTokenPublicKeyHash": Hex.encode(SHA256.hash(data: token.publicKey.x963Representation)),
            ])
        let ephemeral = try #require(Data(base64Encoded: information.ephemeralPublicKey))
        #expect(throws: Never.self) { try P384.KeyAgreement.PublicKey(x963Representation: ephemeral) }
    }

    @Test("Each encryption has a new ephemeral key")
    func ephemeral() throws {
        let keys = try (0..<20).map { _ in try encrypt([1]).ephemeralPublicKey }
        #expect(Set(keys).count == 20)
    }

    @Test("A package cannot be decrypted for another merchant token, device or merchant, or after a change")
    func bound() throws {
        let information = try encrypt(Array("usage".utf8))
        #expect(try open(information) == Array("usage".utf8))
        #expect(throws: (any Error).self) { try open(information, identifier: "DAPLMC0001") }
        #expect(throws: (any Error).self) { try open(information, token: P384.KeyAgreement.PrivateKey()) }
        #expect(throws: (any Error).self) { try open(information, merchant: P384.KeyAgreement.PrivateKey().publicKey) }
        let sealed = Array(try #require(Data(base64Encoded: information.data)))
        for index in [0, sealed.count - 1] {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: (any Error).self) {
                try Self.open(
                    data: Data(changed).base64EncodedString(), ephemeralPublicKey: information.ephemeralPublicKey,
                    identifier: Self.identifier, token: token, merchant: merchant.publicKey)
            }
        }
    }

    @Test("A merchant token identifier that is empty, too long or has other characters is rejected")
    func identifier() throws {
        _ = try encrypt([1], identifier: String(repeating: "a", count: 64))
        for identifier in ["", String(repeating: "a", count: 65), "a b", "é", "a\n"] {
            let error = #expect(throws: PaymentTokenError.self) { try encrypt([1], identifier: identifier) }
            #expect(error?.code == .malformed)
        }
    }

    @Test("A public key that is not an uncompressed point on P-384 is rejected")
    func publicKey() throws {
        let valid = Array(token.publicKey.x963Representation)
        var notOnCurve = valid
        notOnCurve[96] ^= 1
        var hybrid = valid
        hybrid[0] = 6 + (valid[96] & 1)
        let keys: [[UInt8]] = [
            [], [0], valid.dropLast(), valid + [0], valid + valid, notOnCurve, hybrid,
            Array(token.publicKey.compressedRepresentation), Array(token.publicKey.derRepresentation),
            Array(token.publicKey.rawRepresentation), [UInt8](repeating: 0, count: 97),
            [4] + [UInt8](repeating: 0, count: 96),
            Array(P256.KeyAgreement.PrivateKey().publicKey.x963Representation),
            Array(P521.KeyAgreement.PrivateKey().publicKey.x963Representation),
        ]
        for key in keys {
            let error = #expect(throws: PaymentTokenError.self) { try encrypt([1], publicKey: key) }
            #expect(error?.code == .malformed, "\(Hex.encode(key))")
        }
    }
}
