import FoundationEssentials
import PaymentToken
import Testing
import Vocabulary

@Suite("Mutated tokens")
struct MutationTests {
    /// `MERCHANTKEYD_MUTATIONS` asks for more, `MERCHANTKEYD_SEED` repeats a failure.
    static let count = ProcessInfo.processInfo.environment["MERCHANTKEYD_MUTATIONS"].flatMap { Int($0) } ?? 100_000
    static let seed = ProcessInfo.processInfo.environment["MERCHANTKEYD_SEED"].flatMap { UInt64($0) } ?? 20_261_121
    /// libcrypto reads every token that memory accepts, and of the others one in this many.
    static let sampled = 20

    /// A right token and when it was received.
    struct Original {
        let token: ApplePayToken
        let json: [UInt8]
        let receivedAt: Timestamp
    }

    private func originals() throws -> [Original] {
        var originals: [Original] = []
        for version in ApplePayToken.Version.allCases {
            for applicationData in [nil, "order 4711"] {
                let parts = try TestMint(version: version, applicationData: applicationData).parts()
                originals.append(
                    Original(token: try parts.token(), json: Array(parts.json.utf8), receivedAt: TestMint.signedAt))
            }
        }
        guard Fixture.areThere else { return originals }
        return try originals
            + Fixture.all.map {
                Original(
                    token: try $0.token(), json: Array(try $0.read("paymentData.json")), receivedAt: try $0.signedAt())
            }
    }

    @Test("whatever memory accepts, libcrypto accepts in the same words; no changed content verifies")
    func signatures() throws {
        let originals = try originals()
        let verifier = SignatureVerifier(
            environment: TokenEnvironment.production,
            trustRoots: [.appleRootCAG3, try TestAuthority.shared.trustRoot])
        for original in originals {
            #expect(verifier.verify(original.token, receivedAt: original.receivedAt).isVerified)
        }
        var generator = SeededGenerator(seed: Self.seed)
        var (acceptedByMemory, accepted) = (0, 0)
        for round in 0..<Self.count {
            let original = originals[Int.random(in: originals.indices, using: &generator)]
            let other = originals[Int.random(in: originals.indices, using: &generator)].token
            var token = original.token
            switch Int.random(in: 0..<20, using: &generator) {
            case 0: break
            case 1: token = token.with(data: generator.mutated(token.data, splicing: other.data))
            case 2: token = token.with(signature: other.signature)
            default: token = token.with(signature: generator.mutated(token.signature, splicing: other.signature))
            }
            let short = verifier.verifyByMemory(token, receivedAt: original.receivedAt)
            guard short != nil || round.isMultiple(of: Self.sampled) else { continue }
            let long = verifier.verifyByLibCrypto(token, receivedAt: original.receivedAt)
            if let short {
                acceptedByMemory += 1
                try #require(short == long, "seed \(Self.seed), round \(round)")
            }
            if long.isVerified {
                accepted += 1
                try #require(
                    token.signedContent == original.token.signedContent, "seed \(Self.seed), round \(round)")
            }
        }
        // Unchanged ones are in the mix, so that agreement is about something.
        #expect(acceptedByMemory > Self.count / 100)
        #expect(accepted >= acceptedByMemory)
    }

    @Test("no bytes crash the parsers, and what reads as a token is one")
    func parsers() throws {
        let originals = try originals()
        var generator = SeededGenerator(seed: Self.seed &+ 1)
        var (read, refused) = (0, 0)
        for _ in 0..<Self.count {
            let original = originals[Int.random(in: originals.indices, using: &generator)].json
            let other = originals[Int.random(in: originals.indices, using: &generator)].json
            do {
                let token = try ApplePayToken(parsing: generator.mutated(original, splicing: other))
                read += 1
                if read.isMultiple(of: Self.sampled) { #expect(token.inspection().transactionId.utf8.count == 64) }
            } catch {
                refused += 1
                #expect(error.code == .malformed || error.code == .unsupportedVersion)
            }
        }
        #expect(read > 0)
        #expect(refused > Self.count / 100)
    }
}
