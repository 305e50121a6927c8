import Crypto
import CryptoExtras
import Foundation
import PaymentToken
import Testing
import Vocabulary

/// A second implementation in another language, on other libraries: where the two differ, one of them is wrong.
@Suite(
    "Python's cryptography and openssl cms",
    .enabled(if: Python.hasCryptography, "python3 with the package cryptography is not here"))
struct AgreementTests {
    static let count = 2_000

    /// One token as it comes in.
    struct Case: Encodable {
        let kind: String
        let token: String
        let receivedAt: Int
    }

    struct Verdict: Decodable {
        let accepted: Bool
        /// What `openssl cms -verify` says; nil where the message could not be read that far.
        let cms: Bool?
        let plaintext: String?
        let why: String?
    }

    @Test("agree on 2,000 tokens, right and wrong in every way we know: accepted or not, to the same plaintext")
    func agree() throws {
        let cases = try Self.cases()
        let verdicts = try Self.judge(cases)
        try #require(verdicts.count == Self.count && cases.count == Self.count)
        let verifier = SignatureVerifier(
            environment: TokenEnvironment.production, trustRoots: [try TestAuthority.shared.trustRoot])
        var (accepted, openedByBoth, askedOpenSSL) = (0, 0, 0)
        for (item, verdict) in zip(cases, verdicts) {
            let (verification, plaintext) = Self.ours(item, verifier)
            #expect(
                (plaintext != nil) == verdict.accepted,
                "\(item.kind): ours \(verification?.refusals as Any), Python's \(verdict.why ?? "accepted")\n\(item.token)"
            )
            #expect(plaintext == verdict.plaintext, "\(item.kind)")
            if plaintext != nil { openedByBoth += 1 }
            if verdict.accepted { accepted += 1 }
            if let cms = verdict.cms, let verification, verification[.structure].outcome == .passed {
                askedOpenSSL += 1
                let names: [TokenVerification.CheckName] = [.messageDigest, .signature, .certificateChain]
                #expect(
                    names.allSatisfy { verification[$0].outcome == .passed } == cms || !verification.judgedChain,
                    "\(item.kind): ours \(verification.refusals), openssl \(cms)")
            }
        }
        // Both answers are there in plenty, so that agreement is about something.
        #expect(accepted > 500 && accepted < 1_500 && accepted == openedByBoth)
        #expect(askedOpenSSL > 1_000)
    }

    /// Refused is nil, and so is what does not read.
    private static func ours(_ item: Case, _ verifier: SignatureVerifier) -> (TokenVerification?, String?) {
        guard let token = try? ApplePayToken(parsing: Array(item.token.utf8)) else { return (nil, nil) }
        let verification = verifier.verify(
            token, receivedAt: Date(timeIntervalSince1970: TimeInterval(item.receivedAt)))
        guard verification.isVerified, TestMint.publicKeyHashes.contains(token.publicKeyHashBase64),
            let key = try? TestMint.restoredKey(of: token), let opened = try? token.decrypt(with: key)
        else { return (verification, nil) }
        return (verification, opened.withPlaintext { Data($0) }.base64EncodedString())
    }

    private static func judge(_ cases: [Case]) throws -> [Verdict] {
        let directory = FileManager.default.temporaryDirectory.appending(path: "judge-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let root = try OpenSSL.run(["x509", "-inform", "DER"], input: TestAuthority.shared.trustRoot.derRepresentation)
        let rsa = try _RSA.Encryption.PrivateKey(derRepresentation: TestMint.merchantRSAKey.get()).pemRepresentation
        let files = [
            "root.pem": root, "ec.pem": Array(TestMint.merchantKey.pemRepresentation.utf8), "rsa.pem": Array(rsa.utf8),
        ]
        for (name, bytes) in files { try Data(bytes).write(to: directory.appending(path: name)) }
        let encoder = JSONEncoder()
        let lines = try cases.map { String(decoding: try encoder.encode($0), as: UTF8.self) + "\n" }.joined()
        try Data(lines.utf8).write(to: directory.appending(path: "tokens"))
        let script = try #require(
            Bundle.module.path(forResource: "judge_tokens", ofType: "py", inDirectory: "Scripts"))
        let output = try Python.run(
            [
                script, directory.appending(path: "root.pem").path, directory.appending(path: "ec.pem").path,
                directory.appending(path: "rsa.pem").path, TestMint.merchantIdentifier,
            ], in: directory, input: "tokens")
        return try output.split(separator: "\n").map { try JSONDecoder().decode(Verdict.self, from: Data($0.utf8)) }
    }
}

extension TokenVerification {
    /// A chain whose end is not looked for, because there is not one intermediate or the signer's key may not sign, is
    /// one that openssl may still find.
    fileprivate var judgedChain: Bool {
        let finding = self[.certificateChain].finding
        return !finding.contains("intermediate certificates") && !finding.contains("digitalSignature")
            && !self[.signature].finding.contains("that can be read")
    }
}
