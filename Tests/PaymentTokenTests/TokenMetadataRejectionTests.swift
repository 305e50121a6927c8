import Crypto
import FoundationEssentials
import MerchantTestSupport
import PaymentToken
import Testing
import Vocabulary

@Suite("Rejecting encrypted token metadata")
struct TokenMetadataRejectionTests {
    /// A defect of the JSON, and a field name or value that the error must contain.
    struct Defect: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let mentions: String
        let code: PaymentTokenError.Code
        let version: ApplePayToken.Version
        /// Returns the JSON with the defect.
        let json: @Sendable (TestMint.MetadataParts) -> String

        /// A defect of the text.
        static func text(
            _ name: String, mentions: String = "", _ change: @escaping @Sendable (String) -> String
        ) -> Defect {
            Defect(testDescription: name, mentions: mentions, code: .malformed, version: .ecV1) { change($0.json) }
        }

        /// A defect of a field.
        static func field(
            _ name: String, mentions: String, code: PaymentTokenError.Code = .malformed,
            version: ApplePayToken.Version = .ecV1, _ change: @escaping @Sendable (inout TestMint.MetadataParts) -> Void
        ) -> Defect {
            Defect(testDescription: name, mentions: mentions, code: code, version: version) { valid in
                var parts = valid
                change(&parts)
                return parts.json
            }
        }
    }

    static let defects: [Defect] = [
        .text("empty input") { _ in "" },
        .text("an array") { "[\($0)]" },
        .text("cut short") { String($0.dropLast()) },
        .text("twice") { $0 + $0 },
        .text("more than 64 KiB", mentions: "65536") { $0 + String(repeating: " ", count: 65_536) },
        .text("a field twice", mentions: "'data'") { $0.replacing(#"{"data""#, with: #"{"data":"","data""#) },
        .text("no data", mentions: "'data'") { $0.replacing(#""data""#, with: #""Data""#) },
        .text("data that is null", mentions: "'data'") { $0.replacing(#""data":"#, with: #""data":null,"x":"#) },
        .text("data with a line break", mentions: "'data'") { $0.replacing(#""data":""#, with: #""data":"\n"#) },
        .text("data with unused bits set", mentions: "'data'") { json in
            json.replacing(#/"data":"[^"]*"/#, with: #""data":"\#(String(repeating: "A", count: 26))B=""#)
        },
        .text("no signature", mentions: "'signature'") { $0.replacing("signature", with: "Signature") },
        .text("no publicKeyHash", mentions: "'publicKeyHash'") { $0.replacing("publicKeyHash", with: "publickeyhash") },
        .text("no key material", mentions: "'ephemeralPublicKey'") {
            $0.replacing("ephemeralPublicKey", with: "ephemeralKey")
        },
        .text("both kinds of key material", mentions: "'ephemeralPublicKey'") {
            $0.replacing("{", with: #"{"wrappedKey":"AQ==","#)
        },
        .text("a version that is a number", mentions: "'version'") { $0.replacing("{", with: #"{"version":1,"#) },
        .field("data too short for a tag", mentions: "18 to 32768") { $0.data = [1] },
        .field("data too long", mentions: "18 to 32768") { $0.data = [UInt8](repeating: 1, count: 32_769) },
        .field("signature too long", mentions: "0 to 16384") { $0.signature = [UInt8](repeating: 1, count: 16_385) },
        .field("short publicKeyHash", mentions: "'publicKeyHash'") { $0.publicKeyHash.removeLast() },
        .field("EC's key material as wrappedKey", mentions: "'wrappedKey'") { $0.keyName = "wrappedKey" },
        .field("RSA's key material as ephemeralPublicKey", mentions: "'ephemeralPublicKey'", version: .rsaV1) {
            $0.keyName = "ephemeralPublicKey"
        },
        .field("the version of the other key material", mentions: "'wrappedKey'") { $0.version = "RSA_v1" },
        .field("another version", mentions: "EC_v2", code: .unsupportedVersion) { $0.version = "EC_v2" },
        .field("a key on another curve", mentions: "'ephemeralPublicKey'") {
            $0.keyMaterial = Array(P384.KeyAgreement.PrivateKey().publicKey.derRepresentation)
        },
        .field("a point that is not on the curve", mentions: "'ephemeralPublicKey'") { $0.keyMaterial[90] ^= 1 },
        .field("bytes after the key", mentions: "'ephemeralPublicKey'") { $0.keyMaterial.append(0) },
        .field("a wrapped key of another length", mentions: "'wrappedKey'", version: .rsaV1) {
            $0.keyMaterial.removeLast()
        },
        .field("more key material than any key has", mentions: "1 to 512", version: .rsaV1) {
            $0.keyMaterial = [UInt8](repeating: 1, count: 513)
        },
    ]

    @Test("JSON with a defect is rejected", arguments: defects)
    func reject(_ defect: Defect) throws {
        let json = defect.json(try TestMint.ofMetadata(defect.version).metadataParts())
        let error = #expect(throws: PaymentTokenError.self) { try EncryptedTokenMetadata(parsing: Array(json.utf8)) }
        #expect(error?.code == defect.code)
        #expect(defect.mentions.isEmpty || error?.detail.contains(defect.mentions) == true, "\(error?.detail ?? "")")
    }

    @Test(
        "Other data, key material or signature fails the digest check", arguments: ApplePayToken.Version.allCases)
    func changed(_ version: ApplePayToken.Version) throws {
        let valid = try TestMint.ofMetadata(version).metadataParts()
        let other = try TestMint.ofMetadata(version).metadataParts()
        let changes: [(inout TestMint.MetadataParts) -> Void] = [
            { $0.data[0] ^= 0x80 }, { $0.data[$0.data.count - 1] ^= 1 }, { $0.data.append(0) },
            { $0.data.removeLast() }, { $0.data += $0.data }, { $0.data.reverse() },
            { $0.keyMaterial = other.keyMaterial }, { $0.signature = other.signature },
        ]
        for (index, change) in changes.enumerated() where index != 6 || version == .ecV1 || other.data != valid.data {
            var parts = valid
            change(&parts)
            let verifier = try verifier()
            // Caches the chain, so that the changed metadata also gets the fast check.
            try verifier.verify(valid.metadata(), receivedAt: TestMint.signedAt).requireVerified()
            let verification = verifier.verify(try parts.metadata(), receivedAt: TestMint.signedAt)
            #expect(
                verification.checks.filter { $0.outcome == .failed }.map(\.failureReason) == [.digestMismatch],
                "change \(index)")
        }
    }

    @Test("A signature with a defect fails the same checks as in a payment token")
    func signature() throws {
        for defect in SignatureRejectionTests.defects {
            var mint = TestMint.ofMetadata(defect.version)
            try defect.change(&mint)
            let verification = try verifier().verify(mint.metadata(), receivedAt: TestMint.signedAt)
            let failed = verification.checks.filter { $0.outcome == .failed }
            #expect(Set(failed.map(\.name)) == defect.fails, "\(defect.testDescription)")
            if let reason = defect.reason {
                #expect(failed.contains { $0.failureReason == reason }, "\(defect.testDescription)")
            }
        }
    }

    @Test("A signature that is empty, cut short or doubled is rejected")
    func brokenSignature() throws {
        for change: (inout [UInt8]) -> Void in [{ $0 = [] }, { $0.removeLast() }, { $0 += $0 }] {
            var parts = try TestMint.ofMetadata().metadataParts()
            change(&parts.signature)
            let verification = try verifier().verify(parts.metadata(), receivedAt: TestMint.signedAt)
            #expect(verification.checks.filter { $0.outcome == .failed }.map(\.name) == [.structure])
        }
    }

    @Test("A signature whose chain ends in another root is rejected")
    func otherChain() throws {
        let metadata = try TestMint.ofMetadata().metadata()
        let verification = SignatureVerifier(environment: TokenEnvironment.production).verify(
            metadata, receivedAt: TestMint.signedAt)
        #expect(verification.checks.filter { $0.outcome == .failed }.map(\.name) == [.certificateChain])
    }

    @Test("No mutated message crashes the parser; a verified message has original content")
    func mutated() throws {
        let originals = try ApplePayToken.Version.allCases.map { try TestMint.ofMetadata($0).metadataParts() }
        let verifier = try verifier()
        for original in originals {
            try verifier.verify(original.metadata(), receivedAt: TestMint.signedAt).requireVerified()
        }
        var generator = SeededGenerator(seed: MutationTests.seed &+ 14)
        var (parsed, verified) = (0, 0)
        for round in 0..<MutationTests.count / 10 {
            var parts = originals[round % 2]
            let other = originals[1 - round % 2]
            var json = Array(parts.json.utf8)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0: break
            case 1...4: json = generator.mutated(json, splicing: Array(other.json.utf8))
            default:
                parts.signature = generator.mutated(parts.signature, splicing: other.signature)
                json = Array(parts.json.utf8)
            }
            guard let metadata = try? EncryptedTokenMetadata(parsing: json) else { continue }
            parsed += 1
            let fast = verifier.verifyWithCachedChain(metadata, receivedAt: TestMint.signedAt)
            guard fast != nil || round.isMultiple(of: MutationTests.sampled) else { continue }
            let full = verifier.verifyInFull(metadata, receivedAt: TestMint.signedAt)
            try #require(fast == nil || fast == full, "seed \(MutationTests.seed), round \(round)")
            guard full.isVerified else { continue }
            verified += 1
            try #require(originals.contains { metadata.signedContent == $0.keyMaterial + $0.data })
        }
        #expect(parsed > MutationTests.count / 100 && verified > MutationTests.count / 200)
    }

    private func verifier() throws -> SignatureVerifier {
        SignatureVerifier(environment: TokenEnvironment.production, trustRoots: [try TestAuthority.shared.trustRoot])
    }
}
