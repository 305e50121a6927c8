import FoundationEssentials
import PaymentToken
import Testing
import Vocabulary

@Suite("Verifying a signature")
struct SignatureTests {
    let verifier: SignatureVerifier

    init() throws {
        verifier = SignatureVerifier(
            environment: TokenEnvironment.production, trustRoots: [try TestAuthority.shared.trustRoot])
    }

    @Test("passes every check of a right token, first by libcrypto, then by memory, in the same words")
    func right() throws {
        for version in ApplePayToken.Version.allCases {
            for applicationData in [nil, "order 4711"] {
                let token = try TestMint(version: version, applicationData: applicationData).token()
                let long = verifier.verifyByLibCrypto(token, receivedAt: TestMint.signedAt)
                #expect(long.refusals == [])
                #expect(verifier.verifyByMemory(token, receivedAt: TestMint.signedAt) == long)
                #expect(verifier.verify(token, receivedAt: TestMint.signedAt.date) == long)
            }
        }
    }

    /// Forms that differ from Apple's of today and say the same.
    static let accepted: [(String, @Sendable (inout TestMint) -> Void)] = [
        ("definite lengths", { $0.isIndefinite = false }),
        ("digest parameters of NULL, as in 2014", { $0.digestParameters = DER.null }),
        ("no CMSAlgorithmProtection, as in 2014", { $0.hasAlgorithmProtection = false }),
        ("signed attributes in another order", { $0.changeAttributes = { $0.reversed() } }),
        (
            "a signing certificate and an intermediate that have ended since",
            {
                $0.changeLeaf = { $0.notAfter = "231115000000Z" }
                $0.changeIntermediate = { $0.notAfter = "231116000000Z" }
            }
        ),
        (
            "an intermediate of another name and key, known by its marker alone",
            { $0.authority = TestAuthority.shared.withOtherIntermediate() }
        ),
        ("certificates in the other order", { $0.changeCertificates = { $0.reversed() } }),
        ("a signing time in GeneralizedTime", { $0.signingTime = DER.element(0x18, Array("20231114221320Z".utf8)) }),
        (
            "RSA's plain algorithm name, RFC 3370",
            {
                $0.version = .rsaV1
                $0.signatureAlgorithm = "1.2.840.113549.1.1.1"
            }
        ),
        ("one more signed attribute", { $0.changeAttributes = { $0 + [TestMint.attribute("1.2.3.4", DER.null)] } }),
        (
            "the trusted root among the certificates",
            { $0.changeCertificates = { $0 + [try TestAuthority.shared.trustRoot.derRepresentation] } }
        ),
        (
            "a stranger's self-signed root among the certificates",
            { $0.changeCertificates = { $0 + [try TestAuthority().trustRoot.derRepresentation] } }
        ),
    ]

    @Test("accepts", arguments: accepted.indices)
    func accept(_ index: Int) throws {
        let (name, change) = Self.accepted[index]
        var mint = TestMint()
        change(&mint)
        let token = try mint.token()
        #expect(verifier.verifyByLibCrypto(token, receivedAt: TestMint.signedAt).refusals == [], "\(name)")
        #expect(verifier.verify(token, receivedAt: TestMint.signedAt).isVerified, "\(name)")
    }

    @Test("agrees with openssl cms about right tokens", arguments: ApplePayToken.Version.allCases)
    func openssl(_ version: ApplePayToken.Version) throws {
        let token = try TestMint(version: version, applicationData: "x").token()
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "payment-token-\(token.transactionId)-\(version)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let (content, root) = (directory.appending(path: "content"), directory.appending(path: "root.pem"))
        try Data(token.signedContent).write(to: content)
        let pem = try OpenSSL.run(["x509", "-inform", "DER"], input: TestAuthority.shared.trustRoot.derRepresentation)
        try Data(pem).write(to: root)
        let output = try OpenSSL.run(
            [
                "cms", "-verify", "-inform", "DER", "-binary", "-content", content.path, "-CAfile", root.path,
                "-purpose", "any", "-attime", "\(TestMint.signedAt.millisecondsSince1970 / 1000)",
            ], input: token.signature)
        #expect(output == token.signedContent)
    }

    @Test("judges the signing time within five minutes on both sides", arguments: [-301, -300, 0, 300, 301])
    func window(_ seconds: Int) throws {
        let token = try TestMint().token()
        let verification = verifier.verify(token, receivedAt: TestMint.signedAt.adding(.seconds(seconds)))
        #expect(verification[.signingTime].outcome == (abs(seconds) <= 300 ? .passed : .failed))
        #expect(verification.refusals.count == (abs(seconds) <= 300 ? 0 : 1))
    }

    @Test("refuses signing certificates of Apple's sandbox in production and accepts them in a sandbox")
    func sandbox() throws {
        let token = try TestMint(changeLeaf: { $0.subject = "ecc-smp-broker-sign_UC4-SANDBOX" }).token()
        let roots = [try TestAuthority.shared.trustRoot]
        let sandbox = SignatureVerifier(environment: Environment.sandbox, trustRoots: roots)
        #expect(sandbox.verify(token, receivedAt: TestMint.signedAt).isVerified)
        for _ in 1...2 {
            // The second time by memory.
            let verification = verifier.verify(token, receivedAt: TestMint.signedAt)
            #expect(verification.refusals.map(\.name) == [.environment])
        }
    }

    @Test("says in an error which check refused first")
    func error() throws {
        let token = try TestMint(trailing: [0]).token()
        let verification = verifier.verify(token, receivedAt: TestMint.signedAt)
        let error = #expect(throws: PaymentTokenError.self) { try verification.requireVerified() }
        #expect(error?.code == .verificationFailed)
        #expect(error?.detail == "structure: found 1 bytes after the CMS message, expected none")
    }

    @Test("does not remember past the end of a chain")
    func memoryEnds() throws {
        let long = try TestMint().token()
        #expect(verifier.verify(long, receivedAt: TestMint.signedAt).isVerified)
        let late = try TestMint(signingTime: DER.element(0x17, Array("310101000000Z".utf8))).token()
        #expect(verifier.verifyByMemory(late, receivedAt: TestMint.signedAt) == nil)
        #expect(
            verifier.verify(late, receivedAt: TestMint.signedAt).refusals.map(\.name) == [
                .certificateChain, .signingTime,
            ])
    }

    @Test("remembers no more chains than it may, and forgets the oldest")
    func memoryIsBounded() throws {
        let verifier = SignatureVerifier(
            environment: .production, trustRoots: [try TestAuthority.shared.trustRoot], rememberedChains: 1)
        let (first, second) = (try TestMint(version: .ecV1).token(), try TestMint(version: .rsaV1).token())
        #expect(verifier.verify(first, receivedAt: TestMint.signedAt).isVerified)
        #expect(verifier.verifyByMemory(first, receivedAt: TestMint.signedAt) != nil)
        #expect(verifier.verify(second, receivedAt: TestMint.signedAt).isVerified)
        #expect(verifier.verifyByMemory(second, receivedAt: TestMint.signedAt) != nil)
        #expect(verifier.verifyByMemory(first, receivedAt: TestMint.signedAt) == nil)
        #expect(verifier.verify(first, receivedAt: TestMint.signedAt).isVerified)
    }

    @Test("remembers nothing that was refused for its chain or its markers")
    func memoryIsEarned() throws {
        for mint in [
            TestMint(changeLeaf: { $0.markers = [] }), TestMint(changeIntermediate: { $0.markers = [] }),
            TestMint(authority: TestAuthority()), TestMint(changeLeaf: { $0.keyUsage = [0x05, 0x20] }),
        ] {
            let token = try mint.token()
            #expect(!verifier.verify(token, receivedAt: TestMint.signedAt).isVerified)
            #expect(verifier.verifyByMemory(token, receivedAt: TestMint.signedAt) == nil)
        }
    }

    @Test("gives the same answers from many threads at once")
    func threads() async throws {
        let tokens = try ApplePayToken.Version.allCases.map { try TestMint(version: $0).token() }
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<64 {
                group.addTask { [verifier] in
                    verifier.verify(tokens[index % tokens.count], receivedAt: TestMint.signedAt).isVerified
                }
            }
            for await isVerified in group { #expect(isVerified) }
        }
    }
}
