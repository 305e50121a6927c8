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

    @Test("A valid token passes every check; the fast check has the same result as the full check")
    func valid() throws {
        for version in ApplePayToken.Version.allCases {
            for applicationData in [nil, "order 4711"] {
                let token = try TestMint(version: version, applicationData: applicationData).token()
                let full = verifier.verifyInFull(token, receivedAt: TestMint.signedAt)
                #expect(full.unpassedChecks == [])
                #expect(verifier.verifyWithCachedChain(token, receivedAt: TestMint.signedAt) == full)
                #expect(verifier.verify(token, receivedAt: TestMint.signedAt.date) == full)
            }
        }
    }

    /// Valid tokens that differ from Apple's current form.
    static let accepted: [(String, @Sendable (inout TestMint) -> Void)] = [
        ("definite lengths", { $0.isIndefinite = false }),
        ("digest parameters of NULL, as in 2014", { $0.digestParameters = DER.null }),
        ("no CMSAlgorithmProtection, as in 2014", { $0.hasAlgorithmProtection = false }),
        ("signed attributes in another order", { $0.changeAttributes = { $0.reversed() } }),
        (
            "a signing certificate and an intermediate that have expired since",
            {
                $0.changeLeaf = { $0.notAfter = "231115000000Z" }
                $0.changeIntermediate = { $0.notAfter = "231116000000Z" }
            }
        ),
        (
            "an intermediate with another name and key and Apple's marker",
            { $0.authority = TestAuthority.shared.withOtherIntermediate() }
        ),
        ("certificates in the other order", { $0.changeCertificates = { $0.reversed() } }),
        ("a signing time in GeneralizedTime", { $0.signingTime = DER.element(0x18, Array("20231114221320Z".utf8)) }),
        (
            "the signature algorithm rsaEncryption, RFC 3370",
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
            "an untrusted self-signed root among the certificates",
            { $0.changeCertificates = { $0 + [try TestAuthority().trustRoot.derRepresentation] } }
        ),
    ]

    @Test("A valid token in another form is accepted", arguments: accepted.indices)
    func accept(_ index: Int) throws {
        let (name, change) = Self.accepted[index]
        var mint = TestMint()
        change(&mint)
        let token = try mint.token()
        #expect(verifier.verifyInFull(token, receivedAt: TestMint.signedAt).unpassedChecks == [], "\(name)")
        #expect(verifier.verify(token, receivedAt: TestMint.signedAt).isVerified, "\(name)")
    }

    @Test("openssl cms accepts the tokens that the library accepts", arguments: ApplePayToken.Version.allCases)
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

    @Test(
        "The signing time may be five minutes before or after the time of receipt",
        arguments: [-301, -300, 0, 300, 301])
    func window(_ seconds: Int) throws {
        let token = try TestMint().token()
        let verification = verifier.verify(token, receivedAt: TestMint.signedAt.adding(.seconds(seconds)))
        #expect(verification[.signingTime].outcome == (abs(seconds) <= 300 ? .passed : .failed))
        #expect(verification.unpassedChecks.count == (abs(seconds) <= 300 ? 0 : 1))
    }

    @Test("A signing certificate of Apple's sandbox is rejected in production and accepted in the sandbox")
    func sandbox() throws {
        let token = try TestMint(changeLeaf: { $0.subject = "ecc-smp-broker-sign_UC4-SANDBOX" }).token()
        let roots = [try TestAuthority.shared.trustRoot]
        let sandbox = SignatureVerifier(environment: Environment.sandbox, trustRoots: roots)
        #expect(sandbox.verify(token, receivedAt: TestMint.signedAt).isVerified)
        for _ in 1...2 {
            // The second verification uses the cached chain.
            let verification = verifier.verify(token, receivedAt: TestMint.signedAt)
            #expect(verification.unpassedChecks.map(\.name) == [.environment])
        }
    }

    @Test("The error of a token that is not verified describes the first failed check")
    func error() throws {
        let token = try TestMint(trailing: [0]).token()
        let verification = verifier.verify(token, receivedAt: TestMint.signedAt)
        let error = #expect(throws: PaymentTokenError.self) { try verification.requireVerified() }
        #expect(error?.code == .verificationFailed)
        #expect(error?.detail == "structure: \(verification[.structure].finding)")
    }

    @Test("A cached chain is not used after the chain has expired")
    func cacheExpiry() throws {
        let valid = try TestMint().token()
        #expect(verifier.verify(valid, receivedAt: TestMint.signedAt).isVerified)
        let late = try TestMint(signingTime: DER.element(0x17, Array("310101000000Z".utf8))).token()
        #expect(verifier.verifyWithCachedChain(late, receivedAt: TestMint.signedAt) == nil)
        #expect(
            verifier.verify(late, receivedAt: TestMint.signedAt).unpassedChecks.map(\.name) == [
                .certificateChain, .signingTime,
            ])
    }

    @Test("The cache has a limit; the oldest chain is removed first")
    func cacheLimit() throws {
        let verifier = SignatureVerifier(
            environment: .production, trustRoots: [try TestAuthority.shared.trustRoot], chainCacheCapacity: 1)
        let (first, second) = (try TestMint(version: .ecV1).token(), try TestMint(version: .rsaV1).token())
        #expect(verifier.verify(first, receivedAt: TestMint.signedAt).isVerified)
        #expect(verifier.verifyWithCachedChain(first, receivedAt: TestMint.signedAt) != nil)
        #expect(verifier.verify(second, receivedAt: TestMint.signedAt).isVerified)
        #expect(verifier.verifyWithCachedChain(second, receivedAt: TestMint.signedAt) != nil)
        #expect(verifier.verifyWithCachedChain(first, receivedAt: TestMint.signedAt) == nil)
        #expect(verifier.verify(first, receivedAt: TestMint.signedAt).isVerified)
    }

    @Test("A chain that is not valid or has no markers is not cached")
    func onlyValidChainsAreCached() throws {
        for mint in [
            TestMint(changeLeaf: { $0.markers = [] }), TestMint(changeIntermediate: { $0.markers = [] }),
            TestMint(authority: TestAuthority()), TestMint(changeLeaf: { $0.keyUsage = [0x05, 0x20] }),
        ] {
            let token = try mint.token()
            #expect(!verifier.verify(token, receivedAt: TestMint.signedAt).isVerified)
            #expect(verifier.verifyWithCachedChain(token, receivedAt: TestMint.signedAt) == nil)
        }
    }

    @Test("A verifier can be used from many threads at once")
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
