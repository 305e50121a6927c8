import Crypto
import FoundationEssentials
import PaymentToken
import SandboxKit
import Testing
import Vocabulary

/// Changes every part of every kind of token in turn: of the real tokens, and of sandbox tokens of all kinds.
@Suite("Changing one part of a token after it was signed")
struct TamperingTests {
    /// A valid token, and what is needed to verify and decrypt it.
    struct Subject: Sendable {
        let name: String
        let token: ApplePayToken
        let merchantIdentifier: String
        let receivedAt: Timestamp
        let verifier: SignatureVerifier
        let expected: ExpectedTransaction
        /// Restores the symmetric key; nil for a real token whose private key is not published.
        let symmetricKey: (@Sendable (ApplePayToken) throws -> SymmetricKey)?
        /// The exact plaintext; nil if it is not known.
        let plaintext: [UInt8]?
    }

    private static let subjects = Result { try sandboxSubjects() + fixtureSubjects() }

    private static func sandboxSubjects() throws -> [Subject] {
        let sandbox = try SandboxTokens.shared.get()
        let verifier = SignatureVerifier(environment: TokenEnvironment.sandbox, trustRoots: sandbox.trustRoots)
        return try ApplePayToken.Version.allCases.flatMap { version in
            try SandboxTokens.kinds.map { kind in
                let minted = try sandbox.minted(version, kind.change)
                return Subject(
                    name: "sandbox \(version.rawValue), \(kind.name)",
                    token: try ApplePayToken(parsing: Array(minted.json.utf8)),
                    merchantIdentifier: SandboxTokens.merchant, receivedAt: sandbox.signedAt, verifier: verifier,
                    expected: ExpectedTransaction(
                        merchantIdentifier: SandboxTokens.merchant, currencyCode: "840",
                        transactionAmount: TransactionAmount(text: "1000", isString: false),
                        applicationData: kind.name == "applicationData" ? Array("order 4711".utf8) : nil),
                    symmetricKey: { try sandbox.symmetricKey(of: $0) }, plaintext: Array(minted.plaintext.utf8))
            }
        }
    }

    private static func fixtureSubjects() throws -> [Subject] {
        guard Fixture.areAvailable else { return [] }
        let verifier = SignatureVerifier(environment: TokenEnvironment.production)
        return try Fixture.all.map { fixture in
            let key = fixture.hasKey ? try fixture.symmetricKey() : nil
            return Subject(
                name: fixture.path, token: try fixture.token(), merchantIdentifier: Fixture.merchantIdentifier,
                receivedAt: try fixture.signedAt(), verifier: verifier,
                expected: ExpectedTransaction(
                    merchantIdentifier: Fixture.merchantIdentifier, currencyCode: "840",
                    transactionAmount: TransactionAmount(text: "100", isString: true)),
                symmetricKey: key.map { key in { @Sendable _ in key } },
                plaintext: fixture.hasKey ? Array(try fixture.read("expected.json")) : nil)
        }
    }

    struct NoKey: Error {}

    /// Opens a token with the key of the valid token; any other publicKeyHash is unknown.
    private func open(
        _ token: ApplePayToken, as subject: Subject, expecting expected: ExpectedTransaction
    ) async throws -> [UInt8] {
        let opener = PaymentTokenOpener(
            verifier: subject.verifier,
            findKey: { hash in
                guard hash == subject.token.publicKeyHashBase64, let key = subject.symmetricKey else { throw NoKey() }
                return MerchantKey(merchantIdentifier: subject.merchantIdentifier) { try key($0) }
            }, claim: { #expect($0 == subject.token.transactionId) })
        let opened = try await opener.open(token, receivedAt: subject.receivedAt.date, expected: expected)
        return opened.withPlaintext { Array($0) }
    }

    @Test("An unchanged token is accepted and decrypts to its exact plaintext")
    func unchanged() async throws {
        let subjects = try Self.subjects.get()
        #expect(subjects.count == (Fixture.areAvailable ? 14 : 10))
        for subject in subjects where subject.symmetricKey != nil {
            let plaintext = try await open(subject.token, as: subject, expecting: subject.expected)
            #expect(plaintext == subject.plaintext, "\(subject.name)")
        }
    }

    @Test(
        "A changed token is rejected for the changed part",
        arguments: PartChange.ofToken + PartChange.ofMessage + PartChange.ofCertificates)
    func changed(_ change: PartChange) async throws {
        for subject in try Self.subjects.get() {
            // Verifying the valid token caches its chain, so that the changed token also gets the fast check.
            try subject.verifier.verify(subject.token, receivedAt: subject.receivedAt).requireVerified()
            var parts = TestMint.Parts(subject.token)
            try change.change(&parts)
            let mentions = try #require(change.mentions[subject.token.version])
            let token: ApplePayToken
            do { token = try parts.token() } catch let error as PaymentTokenError {
                #expect(change.rejection == .parsing(error.code), "\(subject.name): \(error)")
                #expect(error.detail.contains(mentions), "\(subject.name): \(error)")
                continue
            }
            let verification = subject.verifier.verify(token, receivedAt: subject.receivedAt)
            let failed = verification.checks.filter { $0.outcome == .failed }
            switch change.rejection {
            case .parsing: Issue.record("\(subject.name): the changed token can be parsed")
            case .checks(let names):
                #expect(Set(failed.map(\.name)) == names, "\(subject.name): \(failed)")
                if let reason = change.reason {
                    #expect(failed.contains { $0.failureReason == reason }, "\(subject.name): \(failed)")
                }
                await #expect(throws: PaymentTokenError.self) {
                    _ = try await open(token, as: subject, expecting: ExpectedTransaction())
                }
            case .keyNotFound:
                #expect(verification.isVerified, "\(subject.name): \(failed)")
                await #expect(throws: NoKey.self) {
                    var expected = subject.expected
                    expected.merchantIdentifier = nil
                    _ = try await open(token, as: subject, expecting: expected)
                }
            }
        }
    }

    @Test("A token with its certificates in another order is accepted")
    func certificatesReversed() throws {
        for subject in try Self.subjects.get() {
            var parts = TestMint.Parts(subject.token)
            var tree = try SignatureTree(parts.signature)
            tree.certificates.children.reverse()
            parts.signature = tree.root.encoded
            #expect(parts.signature != subject.token.signature)
            let verification = subject.verifier.verify(try parts.token(), receivedAt: subject.receivedAt)
            #expect(verification.unpassedChecks == [], "\(subject.name)")
        }
    }

    @Test("A token received outside the time window is rejected for its signing time", arguments: [-301, 301, 86_400])
    func receivedAtOtherTime(_ seconds: Int) throws {
        for subject in try Self.subjects.get() {
            let time = subject.receivedAt.adding(.seconds(seconds))
            let verification = subject.verifier.verify(subject.token, receivedAt: time)
            #expect(verification.unpassedChecks.map(\.name) == [.signingTime], "\(subject.name)")
        }
    }

    @Test("In the production environment, sandbox tokens are rejected for their environment")
    func otherEnvironment() throws {
        let sandbox = try SandboxTokens.shared.get()
        let production = SignatureVerifier(
            environment: TokenEnvironment.production, trustRoots: sandbox.trustRoots + [.appleRootCAG3])
        for subject in try Self.subjects.get() {
            let names = production.verify(subject.token, receivedAt: subject.receivedAt).unpassedChecks.map(\.name)
            #expect(names == (subject.name.hasPrefix("sandbox") ? [.environment] : []), "\(subject.name)")
        }
    }

    /// Expected values that no token has, each with the field that differs.
    static let unexpected: [(TransactionCheck.Name, @Sendable (inout ExpectedTransaction) -> Void)] = [
        (.merchantIdentifier, { $0.merchantIdentifier = "merchant.com.example.else" }),
        (.currencyCode, { $0.currencyCode = "978" }),
        (.transactionAmount, { $0.transactionAmount = TransactionAmount(text: "1001", isString: false) }),
        (.applicationData, { $0.applicationData = Array("another order".utf8) }),
    ]

    @Test("A token for another request is rejected for the field that differs", arguments: unexpected.indices)
    func otherRequest(_ index: Int) async throws {
        let (name, change) = Self.unexpected[index]
        for subject in try Self.subjects.get() where subject.symmetricKey != nil {
            var expected = subject.expected
            change(&expected)
            let mismatch = await #expect(throws: TransactionMismatch.self) {
                _ = try await open(subject.token, as: subject, expecting: expected)
            }
            #expect(mismatch?.checks.map(\.name) == [name], "\(subject.name)")
        }
    }

    @Test("The payment data of each kind of token has the fields of that kind")
    func kinds() throws {
        for subject in try Self.subjects.get() {
            guard let key = subject.symmetricKey else { continue }
            let data = try subject.token.decrypt(with: key(subject.token)).paymentData()
            let isEMV = subject.name.hasSuffix("EMV")
            #expect((data.proof.emvData != nil) == isEMV && data.paymentDataType == (isEMV ? "EMV" : "3DSecure"))
            #expect((data.proof.encryptedPINData != nil) == (isEMV && subject.token.version == .rsaV1))
            #expect((data.proof.onlinePaymentCryptogram != nil) == !isEMV)
            let isMerchantToken = subject.name.hasSuffix("merchant token")
            #expect((data.merchantTokenIdentifier == "DAPLMC0000") == isMerchantToken)
            #expect((data.merchantTokenMetadata?.cardMetadata?.fpanSuffix == "1111") == isMerchantToken)
            #expect(data.authenticationResponses.isEmpty != subject.name.hasSuffix("authentication responses"))
            #expect((subject.token.applicationDataHash != nil) == subject.name.hasSuffix("applicationData"))
        }
    }
}
