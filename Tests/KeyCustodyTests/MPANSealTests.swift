import KeyCustody
import MerchantCore
import Secrets
import Testing
import Vocabulary

/// A sealed account number is bound to its merchant token, so that no row can replace another.
@Suite struct MPANSealTests {
    private static let mpan = "5204240250000002"
    private let fixture: CustodyFixture

    init() throws { fixture = try CustodyFixture() }

    private static func owner(
        _ token: String, of merchant: MerchantIdentifier = CustodyFixture.merchant
    ) throws -> SealedMPAN.Owner {
        SealedMPAN.Owner(try #require(MerchantTokenIdentifier(text: token)), of: merchant)
    }

    private func seal(_ digits: String, _ owner: SealedMPAN.Owner) -> SealedMPAN {
        Array(digits.utf8).withUnsafeBytes { fixture.custody.sealMPAN($0, of: owner) }
    }

    private func open(_ sealed: SealedMPAN) throws -> String {
        try fixture.custody.openMPAN(sealed).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: ["52042402", mpan, "5204240250000002123"])
    func `an account number of any length is opened as it was sealed, and all seals have one length`(
        digits: String
    ) throws {
        let sealed = seal(digits, try Self.owner("token-1"))
        #expect(try open(sealed) == digits)
        #expect(sealed.bytes.count == SealedMPAN.length)
        #expect(!String(decoding: sealed.bytes, as: UTF8.self).contains(digits.prefix(6)))
        #expect(seal(digits, sealed.owner).bytes != sealed.bytes)
    }

    @Test func `a seal is valid for one token, merchant, data key and version only`() throws {
        let sealed = seal(Self.mpan, try Self.owner("token-1"))
        func moved(to owner: SealedMPAN.Owner, version: Int = 1, dataKey: Int = 128) -> SealedMPAN {
            SealedMPAN(owner: owner, version: version, dataKeyIdentifier: dataKey, bytes: sealed.bytes)
        }
        #expect(try open(moved(to: sealed.owner)) == Self.mpan)
        for other in [
            moved(to: try Self.owner("token-2")),
            moved(to: try Self.owner("token-1", of: CustodyFixture.otherMerchant)),
            moved(to: sealed.owner, version: 2), moved(to: sealed.owner, dataKey: 127),
        ] {
            let error = try #require(refusal { try open(other) })
            #expect(error.code == .keyDamaged && !error.detail.contains(Self.mpan))
            #expect(error.detail.contains(other.owner.merchantTokenIdentifier.rawValue))
        }
    }

    @Test func `every changed byte and every truncation of a sealed account number is detected`() throws {
        let sealed = seal(Self.mpan, try Self.owner("token-1"))
        func damaged(_ bytes: [UInt8]) -> SealedMPAN {
            SealedMPAN(owner: sealed.owner, version: 1, dataKeyIdentifier: 128, bytes: bytes)
        }
        for index in sealed.bytes.indices {
            var bytes = sealed.bytes
            bytes[index] ^= 0x80
            #expect(refusal { try open(damaged(bytes)) }?.code == .keyDamaged)
        }
        for count in [0, 12, 28, sealed.bytes.count - 1] {
            #expect(refusal { try open(damaged(Array(sealed.bytes.prefix(count)))) }?.code == .keyDamaged)
        }
    }

    @Test func `a seal under the new data key opens without the old data key, and the old seal does not`() throws {
        let masterKey = MasterKey.random()
        let keyring = try Keyring(opening: MemoryStore(), with: masterKey, at: .now)
        let custody = KeyCustody(keyring: keyring, cache: UnsealedKeyCache()) { _ in nil }
        let owner = try Self.owner("token-1")
        let old = Array(Self.mpan.utf8).withUnsafeBytes { custody.sealMPAN($0, of: owner) }
        try keyring.add(DataKeySeal.create(identifier: 129, under: masterKey, at: .now), with: masterKey)
        keyring.sealNew(under: 129)
        let new = try keyring.resealed(old)
        #expect(new.owner == owner && new.dataKeyIdentifier == 129)
        keyring.forgetOlder(than: 129)
        let digits = try custody.openMPAN(new).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        #expect(digits == Self.mpan)
        #expect(refusal { _ = try custody.openMPAN(old) }?.code == .keyDamaged)
    }

    @Test func `a secret under a data key that another daemon has just created is not reported as damaged`() throws {
        let masterKey = MasterKey.random()
        let repository = MemoryStore()
        let keyrings = try (0..<2).map { _ in try Keyring(opening: repository, with: masterKey, at: .now) }
        let daemons = keyrings.map { KeyCustody(keyring: $0, cache: UnsealedKeyCache()) { _ in nil } }
        try keyrings[1].add(DataKeySeal.create(identifier: 129, under: masterKey, at: .now), with: masterKey)
        keyrings[1].sealNew(under: 129)
        let owner = try Self.owner("token-1")
        let sealed = Array(Self.mpan.utf8).withUnsafeBytes { daemons[1].sealMPAN($0, of: owner) }
        let error = try #require(refusal { _ = try daemons[0].openMPAN(sealed) })
        #expect(error.code == .storeUnavailable && error.retryAfter == 1)
    }
}
