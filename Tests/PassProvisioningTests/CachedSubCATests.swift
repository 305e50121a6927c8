import Crypto
import FoundationEssentials
import PassProvisioning
import Testing
import X509

/// One ``ProvisioningTrust`` serves many attempts, and remembers which root signed a sub-CA.
@Suite struct CachedSubCATests {
    private func kinds(
        _ sent: [Data], _ trust: ProvisioningTrust, at time: Date = TestChain.now
    ) throws -> [CertificateFinding.Code] {
        try ProvisioningCertificates(sent).findings(trust: trust, at: time).map(\.kind)
    }

    /// A trust that has accepted the sub-CA, and the sub-CA in DER.
    private func trustAfterFirstUse(_ chain: TestChain) throws -> (trust: ProvisioningTrust, subCA: Data) {
        let trust = try chain.trust()
        let sent = try chain.sent()
        try #require(kinds(sent, trust) == [])
        return (trust, sent[1])
    }

    @Test func `a known sub-CA is accepted again`() throws {
        let chain = try TestChain()
        let (trust, subCA) = try trustAfterFirstUse(chain)
        #expect(try kinds([chain.leaf.encoded(), subCA], trust) == [])
    }

    @Test func `every leaf of a known sub-CA is checked`() throws {
        var chain = try TestChain()
        let (trust, subCA) = try trustAfterFirstUse(chain)
        chain.leaf.signer = .init(P256.Signing.PrivateKey())
        #expect(try kinds([chain.leaf.encoded(), subCA], trust) == [.invalidSignature])
        chain.leaf.signer = .init(chain.subCAKey)
        chain.leaf.otherExtensions = []
        #expect(try kinds([chain.leaf.encoded(), subCA], trust) == [.markerMissing])
    }

    @Test func `a known sub-CA with another signature is refused`() throws {
        let chain = try TestChain()
        let (trust, subCA) = try trustAfterFirstUse(chain)
        var changed = subCA
        changed[changed.count - 1] ^= 1
        #expect(try kinds([chain.leaf.encoded(), changed], trust) == [.invalidSignature])
    }

    @Test func `a sub-CA with the name of a known one and another key is refused`() throws {
        var chain = try TestChain()
        let (trust, _) = try trustAfterFirstUse(chain)
        let otherKey = P256.Signing.PrivateKey()
        chain.subCA.publicKey = .init(otherKey.publicKey)
        chain.subCA.signer = .init(P384.Signing.PrivateKey())
        chain.leaf.signer = .init(otherKey)
        #expect(try kinds(chain.sent(), trust) == [.invalidSignature])
    }

    @Test func `a refused sub-CA is refused again`() throws {
        var chain = try TestChain()
        let trust = try chain.trust()
        chain.subCA.signer = .init(P384.Signing.PrivateKey())
        let sent = try chain.sent()
        #expect(try kinds(sent, trust) == [.invalidSignature])
        #expect(try kinds(sent, trust) == [.invalidSignature])
    }

    @Test func `the validity periods of a known sub-CA and its root are checked at every attempt`() throws {
        let chain = try TestChain()
        let (trust, subCA) = try trustAfterFirstUse(chain)
        let sent = [try chain.leaf.encoded(), subCA]
        let year: TimeInterval = 365 * 86_400
        #expect(try kinds(sent, trust, at: TestChain.now + 6 * year) == [.expired, .expired])
        #expect(try kinds(sent, trust, at: TestChain.now + 16 * year) == [.expired, .expired, .expired])
        #expect(try kinds(sent, trust) == [])
    }

    @Test func `a trust with other roots refuses the sub-CA`() throws {
        let chain = try TestChain()
        let (_, subCA) = try trustAfterFirstUse(chain)
        let others = try TestChain().trust()
        #expect(try kinds([chain.leaf.encoded(), subCA], others) == [.invalidSignature])
    }

    @Test func `more sub-CAs than the cache holds are all accepted`() throws {
        let chain = try TestChain()
        let trust = try chain.trust()
        for _ in 0..<40 { #expect(try kinds(chain.sent(), trust) == []) }
    }
}
