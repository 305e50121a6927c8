import FoundationEssentials
import PaymentToken
import Testing
import Vocabulary

@Suite("Verifying real tokens", .enabled(if: Fixture.areAvailable, "MERCHANTKEYD_FIXTURES is not set"))
struct FixtureSignatureTests {
    let verifier = SignatureVerifier(environment: TokenEnvironment.production)

    @Test("A real token passes every check at its signing time", arguments: Fixture.all)
    func verify(_ fixture: Fixture) throws {
        let verification = verifier.verify(try fixture.token(), receivedAt: try fixture.signedAt())
        #expect(verification.unpassedChecks == [])
        #expect(verification.signingTime == (try fixture.signedAt().date))
        #expect(verification.checks.map(\.name) == TokenVerification.CheckName.allCases)
    }

    @Test("The first verification of a real token enables the fast check, with the same result", arguments: Fixture.all)
    func cachedChain(_ fixture: Fixture) throws {
        let (token, time) = (try fixture.token(), try fixture.signedAt())
        #expect(verifier.verifyWithCachedChain(token, receivedAt: time) == nil)
        let first = verifier.verify(token, receivedAt: time)
        #expect(verifier.verifyWithCachedChain(token, receivedAt: time) == first)
        #expect(first.isVerified)
    }

    @Test("Received today, a token of 2024 fails only the check of its signing time", arguments: Fixture.all.suffix(1))
    func today(_ fixture: Fixture) throws {
        let verification = verifier.verify(try fixture.token(), receivedAt: Date.now)
        #expect(verification.unpassedChecks.map(\.name) == [.signingTime])
    }

    @Test("A real token does not chain to another root", arguments: Fixture.all)
    func otherRoot(_ fixture: Fixture) throws {
        let verifier = SignatureVerifier(
            environment: TokenEnvironment.production, trustRoots: [try TestAuthority.shared.trustRoot])
        let verification = verifier.verify(try fixture.token(), receivedAt: try fixture.signedAt())
        #expect(verification.unpassedChecks.map(\.name) == [.certificateChain])
    }

    @Test("Changed data, an added applicationData and another transactionId are detected", arguments: Fixture.all)
    func changedContent(_ fixture: Fixture) throws {
        let (token, time) = (try fixture.token(), try fixture.signedAt())
        #expect(verifier.verify(token, receivedAt: time).isVerified)
        for index in token.data.indices {
            var data = token.data
            data[index] ^= 1
            let verification = verifier.verify(token.with(data: data), receivedAt: time)
            #expect(verification.unpassedChecks.map(\.name) == [.messageDigest])
        }
        let added = token.with(applicationDataHash: [UInt8](repeating: 0, count: 32))
        #expect(verifier.verify(added, receivedAt: time).unpassedChecks.map(\.name) == [.messageDigest])
        let other = try #require(TransactionId(hex: String(repeating: "0", count: 64)))
        let renamed = token.with(transactionId: other)
        #expect(verifier.verify(renamed, receivedAt: time).unpassedChecks.map(\.name) == [.messageDigest])
    }

    /// Each byte of the CMS message belongs to a signature or to signed content, must equal a signed value, or must
    /// have one of a few values.
    @Test("Any changed byte of the signature is detected", arguments: Fixture.all)
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
