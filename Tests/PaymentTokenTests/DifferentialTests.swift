import Crypto
import CryptoExtras
import Foundation
import PaymentToken
import Testing
import Vocabulary

/// Compares the library with an independent implementation in Python. If the two differ, one of them is wrong.
@Suite(
    "Differential tests with Python's cryptography and openssl cms",
    .enabled(if: Python.hasCryptography, "python3 or its package cryptography is not installed"))
struct DifferentialTests {
    static let count = 2_000

    /// A token and the time at which it is received, in seconds since 1970.
    struct Case: Encodable {
        let kind: String
        let token: String
        let receivedAt: Int
    }

    /// The result of the Python script for one case.
    struct PythonResult: Decodable {
        let accepted: Bool
        /// Whether `openssl cms -verify` succeeds; nil if the token or its CMS message cannot be parsed.
        let cms: Bool?
        let plaintext: String?
        let reason: String?
    }

    @Test("The library and Python agree on 2,000 valid and invalid tokens: accepted or not, and the plaintext")
    func agree() throws {
        let cases = try Self.cases()
        let results = try Self.runPython(cases)
        try #require(results.count == Self.count && cases.count == Self.count)
        let verifier = SignatureVerifier(
            environment: TokenEnvironment.production, trustRoots: [try TestAuthority.shared.trustRoot])
        var (accepted, acceptedByBoth, comparedWithOpenSSL) = (0, 0, 0)
        for (item, result) in zip(cases, results) {
            let (verification, plaintext) = Self.runLibrary(item, verifier)
            #expect(
                (plaintext != nil) == result.accepted,
                "\(item.kind): library \(verification?.unpassedChecks as Any), Python \(result.reason ?? "accepted")\n\(item.token)"
            )
            #expect(plaintext == result.plaintext, "\(item.kind)")
            if plaintext != nil { acceptedByBoth += 1 }
            if result.accepted { accepted += 1 }
            if let cms = result.cms, let verification, verification[.structure].outcome == .passed {
                comparedWithOpenSSL += 1
                let names: [TokenVerification.CheckName] = [.messageDigest, .signature, .certificateChain]
                #expect(
                    names.allSatisfy { verification[$0].outcome == .passed } == cms
                        || verification.isStricterThanOpenSSL,
                    "\(item.kind): library \(verification.unpassedChecks), openssl \(cms)")
            }
        }
        // Enough tokens are accepted and enough are rejected for the comparison to be meaningful.
        #expect(accepted > 500 && accepted < 1_500 && accepted == acceptedByBoth)
        #expect(comparedWithOpenSSL > 1_000)
    }

    /// - Returns: the verification, nil for a token that cannot be parsed; and the plaintext, nil for a rejected token.
    private static func runLibrary(_ item: Case, _ verifier: SignatureVerifier) -> (TokenVerification?, String?) {
        guard let token = try? ApplePayToken(parsing: Array(item.token.utf8)) else { return (nil, nil) }
        let verification = verifier.verify(
            token, receivedAt: Date(timeIntervalSince1970: TimeInterval(item.receivedAt)))
        guard verification.isVerified, TestMint.publicKeyHashes.contains(token.publicKeyHashBase64),
            let key = try? TestMint.restoredKey(of: token), let opened = try? token.decrypt(with: key)
        else { return (verification, nil) }
        return (verification, opened.withPlaintext { Data($0) }.base64EncodedString())
    }

    static func runPython(_ cases: [some Encodable]) throws -> [PythonResult] {
        let directory = FileManager.default.temporaryDirectory.appending(path: "differential-\(UUID().uuidString)")
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
            Bundle.module.path(forResource: "verify_tokens", ofType: "py", inDirectory: "Scripts"))
        let output = try Python.run(
            [
                script, directory.appending(path: "root.pem").path, directory.appending(path: "ec.pem").path,
                directory.appending(path: "rsa.pem").path, TestMint.merchantIdentifier,
            ], in: directory, input: "tokens")
        return try output.split(separator: "\n").map {
            try JSONDecoder().decode(PythonResult.self, from: Data($0.utf8))
        }
    }
}

extension TokenVerification {
    /// Whether the library rejects the token for a rule that `openssl cms -verify` does not have: exactly one
    /// intermediate, a key usage that includes digitalSignature, a key of the type that the version requires.
    fileprivate var isStricterThanOpenSSL: Bool {
        switch self[.certificateChain].failureReason {
        case .wrongIntermediateCount, .wrongSigningKeyUsage: true
        default: self[.signature].failureReason == .wrongSigningKeyType
        }
    }
}
