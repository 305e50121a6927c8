import Foundation
import MerchantTestSupport
import PaymentToken
import Secrets
import Testing
import Vocabulary

@Suite("Mutated tokens")
struct MutationTests {
    /// The number of mutations: 100,000, or 20,000 in a quick run. Set `MERCHANTKEYD_MUTATIONS` for another number, and
    /// `MERCHANTKEYD_SEED` to repeat a failure.
    static let count =
        ProcessInfo.processInfo.environment["MERCHANTKEYD_MUTATIONS"].flatMap { Int($0) }
        ?? (TestRun.isQuick ? 20_000 : 100_000)
    static let seed = ProcessInfo.processInfo.environment["MERCHANTKEYD_SEED"].flatMap { UInt64($0) } ?? 20_261_121
    /// One in this many inputs gets the slow checks. Tokens that the fast check accepts always get the full check.
    static let sampled = 20

    /// A valid token and its time of receipt.
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
        guard Fixture.areAvailable else { return originals }
        return try originals
            + Fixture.all.map {
                Original(
                    token: try $0.token(), json: Array(try $0.read("paymentData.json")), receivedAt: try $0.signedAt())
            }
    }

    @Test("A mutated token that the fast check accepts has the same result in the full check; changed content fails")
    func signatures() throws {
        let originals = try originals()
        let verifier = SignatureVerifier(
            environment: TokenEnvironment.production,
            trustRoots: [.appleRootCAG3, try TestAuthority.shared.trustRoot])
        for original in originals {
            #expect(verifier.verify(original.token, receivedAt: original.receivedAt).isVerified)
        }
        var generator = SeededGenerator(seed: Self.seed)
        var (acceptedFast, accepted) = (0, 0)
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
            let fast = verifier.verifyWithCachedChain(token, receivedAt: original.receivedAt)
            guard fast != nil || round.isMultiple(of: Self.sampled) else { continue }
            let full = verifier.verifyInFull(token, receivedAt: original.receivedAt)
            if let fast {
                acceptedFast += 1
                try #require(fast == full, "seed \(Self.seed), round \(round)")
            }
            if full.isVerified {
                accepted += 1
                try #require(
                    token.signedContent == original.token.signedContent, "seed \(Self.seed), round \(round)")
            }
        }
        // Unchanged tokens are among them, so that the fast check accepts some.
        #expect(acceptedFast > Self.count / 100)
        #expect(accepted >= acceptedFast)
    }

    @Test("Mutated JSON does not crash the token parser; a parsed token is complete")
    func tokens() throws {
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

    @Test("Mutated payment data does not crash its parser, and the errors quote no account number")
    func paymentData() throws {
        let originals = [TestMint.plaintext, PaymentDataTests.complete].map { Array($0.utf8) }
        var generator = SeededGenerator(seed: Self.seed &+ 2)
        var (read, refused) = (0, 0)
        for round in 0..<Self.count {
            let bytes = generator.mutated(originals[round % 2], splicing: originals[1 - round % 2])
            let opened = DecryptedPaymentData(plaintext: SecretBytes(copying: bytes))
            do {
                let data = try opened.paymentData()
                read += 1
                if read.isMultiple(of: Self.sampled) { #expect(data.maskedFields.count >= 6) }
            } catch {
                refused += 1
                try #require(error.code == .plaintextMalformed)
                try #require(!error.detail.contains("4784000000380075") && !error.detail.contains("370295136149943"))
            }
        }
        #expect(read > Self.count / 100 && refused > Self.count / 100)
    }

    @Test("Mutated certificates do not crash the certificate parsers; an accepted root keeps its encoding")
    func certificates() throws {
        let authority = TestAuthority.shared
        let originals = [
            TrustRoot.appleRootCAG3.derRepresentation, try authority.trustRoot.derRepresentation,
            try authority.signedByRoot(authority.intermediate),
            try authority.signedByIntermediate(authority.leaf(.rsaV1)),
        ]
        let text = try OpenSSL.run(["x509", "-inform", "DER"], input: originals[0])
        var generator = SeededGenerator(seed: Self.seed &+ 3)
        var (read, refused) = (0, 0)
        for round in 0..<Self.count {
            let other = originals[Int.random(in: originals.indices, using: &generator)]
            let bytes = generator.mutated(originals[round % originals.count], splicing: other)
            do {
                let root = try TrustRoot(derRepresentation: bytes)
                read += 1
                try #require(root.derRepresentation == bytes)
            } catch let error as PaymentTokenError {
                refused += 1
                try #require(error.code == .invalidTrustRoot)
            }
            guard round.isMultiple(of: Self.sampled) else { continue }
            let pem = String(decoding: generator.mutated(text, splicing: other), as: UTF8.self)
            if let roots = try? TrustRoot.reading(pem: pem) { #expect(!roots.isEmpty) }
        }
        #expect(read > Self.count / 100 && refused > Self.count / 100)
    }

    @Test("Very large, deep and wide inputs are rejected within bounded memory")
    func bounds() throws {
        let parts = try TestMint().parts()
        let before = try Self.peakResidentKilobytes()
        let deep = String(repeating: "[", count: 30_000)
        let wide = (0..<9_000).map { "\"\($0)\":0" }.joined(separator: ",")
        for json in [deep, "{\(wide)}", parts.json.replacing("{", with: "{\"x\":\(deep),", maxReplacements: 1)] {
            for _ in 0..<50 { #expect(throws: PaymentTokenError.self) { try ApplePayToken(parsing: Array(json.utf8)) } }
        }
        let verifier = SignatureVerifier(environment: .production, trustRoots: [], chainCacheCapacity: 1)
        let nests: [[UInt8]] = [
            [UInt8](repeating: 0x30, count: 16_384), Array([[UInt8]](repeating: [0x30, 0x80], count: 8_192).joined()),
            parts.signature.dropLast(6) + [UInt8](repeating: 0xA0, count: 12_000),
            Array([[UInt8]](repeating: [0x30, 0x84, 0x7F, 0xFF, 0xFF, 0xFF], count: 2_700).joined()),
        ]
        for nest in nests {
            var large = parts
            large.signature = nest
            let token = try large.token()
            for _ in 0..<50 {
                #expect(verifier.verify(token, receivedAt: TestMint.signedAt)[.structure].outcome == .failed)
                #expect(token.inspection().certificates == [])
            }
        }
        #expect(try Self.peakResidentKilobytes() - before < 64 * 1024)
    }

    /// The largest resident set size of this process so far, `VmHWM` in proc(5).
    private static func peakResidentKilobytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.filter(\.isNumber)))
    }
}
