import Crypto
import FoundationEssentials
import PaymentToken
import SandboxKit
import Testing
import Vocabulary

/// Every part of every kind of token, changed in turn: real ones, and the sandbox's of all kinds.
@Suite("Changing one part of a token after it was signed")
struct EveryPartTests {
    /// A right token and what judges it.
    struct Subject: Sendable {
        let name: String
        let token: ApplePayToken
        let merchantIdentifier: String
        let receivedAt: Timestamp
        let verifier: SignatureVerifier
        let expected: ExpectedTransaction
        /// nil where the merchant's key was not published.
        let symmetricKey: (@Sendable (ApplePayToken) throws -> SymmetricKey)?
        /// What is inside, byte for byte, where it is known.
        let plaintext: [UInt8]?
    }

    private static let subjects = Result { try sandboxSubjects() + fixtureSubjects() }

    private static func sandboxSubjects() throws -> [Subject] {
        let sandbox = try SandboxTokens.shared.get()
        let verifier = SignatureVerifier(environment: TokenEnvironment.sandbox, trustRoots: sandbox.trustRoots)
        return try ApplePayToken.Version.allCases.flatMap { version in
            try SandboxTokens.kinds.map { kind in
                let minted = try sandbox.minted(version, kind.order)
                return Subject(
                    name: "sandbox's \(version.rawValue), \(kind.name)",
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
        guard Fixture.areThere else { return [] }
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

    /// Judges as a decryptor does; knows the key of the right token alone.
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

    @Test("Unchanged, each of them verifies, opens to its exact plaintext and is as expected")
    func unchanged() async throws {
        let subjects = try Self.subjects.get()
        #expect(subjects.count == (Fixture.areThere ? 14 : 10))
        for subject in subjects where subject.symmetricKey != nil {
            let plaintext = try await open(subject.token, as: subject, expecting: subject.expected)
            #expect(plaintext == subject.plaintext, "\(subject.name)")
        }
    }

    @Test(
        "It is refused for that part", arguments: PartChange.ofToken + PartChange.ofMessage + PartChange.ofCertificates)
    func changed(_ change: PartChange) async throws {
        for subject in try Self.subjects.get() {
            // The chain is remembered, so that the refusal holds for the short way too.
            try subject.verifier.verify(subject.token, receivedAt: subject.receivedAt).requireVerified()
            var parts = TestMint.Parts(subject.token)
            try change.change(&parts)
            let says = try #require(change.says[subject.token.version])
            let token: ApplePayToken
            do { token = try parts.token() } catch let error as PaymentTokenError {
                #expect(change.refusal == .unreadable(error.code), "\(subject.name): \(error)")
                #expect(error.detail.contains(says), "\(subject.name): \(error)")
                continue
            }
            let verification = subject.verifier.verify(token, receivedAt: subject.receivedAt)
            let failed = verification.checks.filter { $0.outcome == .failed }
            switch change.refusal {
            case .unreadable: Issue.record("\(subject.name): it reads as a token")
            case .checks(let names):
                #expect(Set(failed.map(\.name)) == names, "\(subject.name): \(failed)")
                #expect(says.isEmpty || failed.contains { $0.finding.contains(says) }, "\(subject.name): \(failed)")
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

    @Test("Another order of the certificates says the same, and is accepted")
    func certificatesReversed() throws {
        for subject in try Self.subjects.get() {
            var parts = TestMint.Parts(subject.token)
            var tree = try SignatureTree(parts.signature)
            tree.certificates.children.reverse()
            parts.signature = tree.root.encoded
            #expect(parts.signature != subject.token.signature)
            let verification = subject.verifier.verify(try parts.token(), receivedAt: subject.receivedAt)
            #expect(verification.refusals == [], "\(subject.name)")
        }
    }

    @Test("At another time of receipt it is refused for its time", arguments: [-301, 301, 86_400])
    func receivedAtOtherTime(_ seconds: Int) throws {
        for subject in try Self.subjects.get() {
            let time = subject.receivedAt.adding(.seconds(seconds))
            let verification = subject.verifier.verify(subject.token, receivedAt: time)
            #expect(verification.refusals.map(\.name) == [.signingTime], "\(subject.name)")
        }
    }

    @Test("In the other environment the sandbox's tokens are refused for it")
    func otherEnvironment() throws {
        let sandbox = try SandboxTokens.shared.get()
        let production = SignatureVerifier(
            environment: TokenEnvironment.production, trustRoots: sandbox.trustRoots + [.appleRootCAG3])
        for subject in try Self.subjects.get() {
            let names = production.verify(subject.token, receivedAt: subject.receivedAt).refusals.map(\.name)
            #expect(names == (subject.name.hasPrefix("sandbox") ? [.environment] : []), "\(subject.name)")
        }
    }

    /// One expectation that the request did not have, and the field named for it.
    static let unexpected: [(TransactionCheck.Name, @Sendable (inout ExpectedTransaction) -> Void)] = [
        (.merchantIdentifier, { $0.merchantIdentifier = "merchant.com.example.else" }),
        (.currencyCode, { $0.currencyCode = "978" }),
        (.transactionAmount, { $0.transactionAmount = TransactionAmount(text: "1001", isString: false) }),
        (.applicationData, { $0.applicationData = Array("another order".utf8) }),
    ]

    @Test("Held against another request it is refused for the field that differs", arguments: unexpected.indices)
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

    @Test("Each kind's own fields are read")
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
