import FoundationEssentials
import PaymentToken
import Testing
import Vocabulary

@Suite("Signatures of real tokens", .enabled(if: Fixture.areThere, "MERCHANTKEYD_FIXTURES is not set"))
struct FixtureSignatureTests {
    let verifier = SignatureVerifier(environment: TokenEnvironment.production)

    @Test("verify at their signing time", arguments: Fixture.all)
    func verify(_ fixture: Fixture) throws {
        let verification = verifier.verify(try fixture.token(), receivedAt: try fixture.signedAt())
        #expect(verification.refusals == [])
        #expect(verification.signingTime == (try fixture.signedAt().date))
        #expect(verification.checks.map(\.name) == TokenVerification.CheckName.allCases)
    }

    @Test("verify by memory in the same words", arguments: Fixture.all)
    func memory(_ fixture: Fixture) throws {
        let (token, time) = (try fixture.token(), try fixture.signedAt())
        #expect(verifier.verifyByMemory(token, receivedAt: time) == nil)
        let long = verifier.verify(token, receivedAt: time)
        #expect(verifier.verifyByMemory(token, receivedAt: time) == long)
        #expect(long.isVerified)
    }

    @Test("of 2024 chain by the clock of today too, all but the time", arguments: Fixture.all.suffix(1))
    func today(_ fixture: Fixture) throws {
        let verification = verifier.verify(try fixture.token(), receivedAt: Date.now)
        #expect(verification.refusals.map(\.name) == [.signingTime])
    }

    @Test("do not chain to another root", arguments: Fixture.all)
    func otherRoot(_ fixture: Fixture) throws {
        let stranger = SignatureVerifier(
            environment: TokenEnvironment.production, trustRoots: [try TestAuthority.shared.trustRoot])
        let verification = stranger.verify(try fixture.token(), receivedAt: try fixture.signedAt())
        #expect(verification.refusals.map(\.name) == [.certificateChain])
    }

    @Test("refuse every changed byte of what was signed", arguments: Fixture.all)
    func changedContent(_ fixture: Fixture) throws {
        let (token, time) = (try fixture.token(), try fixture.signedAt())
        #expect(verifier.verify(token, receivedAt: time).isVerified)
        for index in token.data.indices {
            var data = token.data
            data[index] ^= 1
            let verification = verifier.verify(token.with(data: data), receivedAt: time)
            #expect(verification.refusals.map(\.name) == [.messageDigest])
        }
        let added = token.with(applicationDataHash: [UInt8](repeating: 0, count: 32))
        #expect(verifier.verify(added, receivedAt: time).refusals.map(\.name) == [.messageDigest])
        let other = try #require(TransactionId(hex: String(repeating: "0", count: 64)))
        let renamed = token.with(transactionId: other)
        #expect(verifier.verify(renamed, receivedAt: time).refusals.map(\.name) == [.messageDigest])
    }

    /// Every byte is signed, or is compared with something that is, or has one value alone that is accepted.
    @Test("refuse every changed byte of the signature", arguments: Fixture.all)
    func changedSignature(_ fixture: Fixture) throws {
        let (token, time) = (try fixture.token(), try fixture.signedAt())
        #expect(verifier.verify(token, receivedAt: time).isVerified)
        var accepted: [Int] = []
        for index in token.signature.indices {
            var signature = token.signature
            signature[index] ^= 1
            if verifier.verify(token.with(signature: signature), receivedAt: time).isVerified { accepted.append(index) }
        }
        #expect(accepted == [])
    }
}
