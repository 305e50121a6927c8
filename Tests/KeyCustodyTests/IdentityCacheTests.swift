import KeyCustody
import MerchantCore
import Testing
import Vocabulary

@Suite struct IdentityCacheTests {
    private let now = Timestamp(millisecondsSince1970: 1_790_000_000_000)
    private let owner: IdentityOwner
    private let hash = PublicKeyHash(of: [1])
    private let cache = IdentityCache()

    init() throws { owner = .merchant(try #require(MerchantIdentifier("merchant.com.example.shop"))) }

    private func identity(notBefore: Int64 = -1000, notAfter: Int64 = 1_000_000) -> ClientIdentity {
        ClientIdentity(
            certificateChain: [], publicKeyHash: hash,
            notBefore: Timestamp(millisecondsSince1970: now.millisecondsSince1970 + notBefore),
            notAfter: Timestamp(millisecondsSince1970: now.millisecondsSince1970 + notAfter), signatureAlgorithms: []
        ) { _, _ in [] }
    }

    /// Whether the cache has an identity of the owner at `now` plus this time.
    private func isKnown(after milliseconds: Int64 = 0, issuers: Int = 0) -> Bool {
        let time = Timestamp(millisecondsSince1970: now.millisecondsSince1970 + milliseconds)
        return cache.identity(of: owner, at: time, issuers: issuers) != nil
    }

    @Test func `an identity is known until any key changes`() {
        cache.store(identity(), of: owner, readAt: now, cache.version(issuers: 0))
        #expect(isKnown() && cache.identity(of: .platform, at: now, issuers: 0) == nil)
        cache.keysChanged([hash])
        #expect(!isKnown())
    }

    @Test func `an identity is not known without a lease, or after a change of all keys`() {
        let lease = Lease()
        let cache = IdentityCache(lease: lease)
        cache.store(identity(), of: owner, readAt: now, cache.version(issuers: 0))
        #expect(cache.identity(of: owner, at: now, issuers: 0) == nil)
        lease.setEnd(.now + .seconds(3600))
        #expect(cache.identity(of: owner, at: now, issuers: 0) != nil)
        cache.allKeysChanged()
        #expect(cache.identity(of: owner, at: now, issuers: 0) == nil)
    }

    @Test func `an identity that was read before a change is not stored`() {
        let version = cache.version(issuers: 0)
        cache.keysChanged([hash])
        cache.store(identity(), of: owner, readAt: now, version)
        #expect(!isKnown())
    }

    @Test func `an identity is read again after a minute, and after the clock was set back`() {
        cache.store(identity(), of: owner, readAt: now, cache.version(issuers: 0))
        #expect(isKnown(after: 59_999) && !isKnown(after: 60_000) && !isKnown(after: -1))
    }

    @Test func `an identity outside its validity period is not known`() {
        cache.store(identity(notAfter: 5_000), of: owner, readAt: now, cache.version(issuers: 0))
        #expect(isKnown(after: 5_000) && !isKnown(after: 5_001))
    }

    @Test func `an identity is read again when the certificate issuers change`() {
        cache.store(identity(), of: owner, readAt: now, cache.version(issuers: 1))
        #expect(isKnown(issuers: 1) && !isKnown(issuers: 2))
    }
}
