import FoundationEssentials
import PaymentToken
import Vocabulary

/// The rules that apply when the signature of a valid token is replaced by any bytes.
struct SignatureRules {
    /// The rules for the token and the trust root in the files that the environment variables name.
    static let original: SignatureRules = {
        do { return try SignatureRules(ProcessInfo.processInfo.environment) } catch {
            fatalError(
                "cannot load the valid token and its root from the files that MERCHANTKEYD_FUZZ_TOKEN and "
                    + "MERCHANTKEYD_FUZZ_ROOT name: \(error)")
        }
    }()

    let verifier: SignatureVerifier
    let receivedAt: Date
    private let token: ApplePayToken
    private let layout: AppleSignatureLayout

    enum SetupError: Error {
        case missingVariable(String)
        case unexpectedSignature
    }

    private init(_ environment: [String: String]) throws {
        let files = try ["MERCHANTKEYD_FUZZ_TOKEN", "MERCHANTKEYD_FUZZ_ROOT"].map { name in
            guard let path = environment[name] else { throw SetupError.missingVariable(name) }
            return try Data(contentsOf: URL(filePath: path))
        }
        token = try ApplePayToken(parsing: files[0])
        verifier = SignatureVerifier(
            environment: TokenEnvironment.sandbox,
            trustRoots: try TrustRoot.reading(pem: String(decoding: files[1], as: UTF8.self)))
        guard let signedAt = token.inspection().signingTime,
            let layout = AppleSignatureLayout(token.signature, token.version)
        else { throw SetupError.unexpectedSignature }
        receivedAt = signedAt
        self.layout = layout
        // Adds the chain to the cache.
        try verifier.verify(token, receivedAt: signedAt).requireVerified()
    }

    func check(_ signature: [UInt8]) {
        let changed = ApplePayToken(
            keyMaterial: token.keyMaterial, transactionId: token.transactionId, publicKeyHash: token.publicKeyHash,
            applicationDataHash: token.applicationDataHash, data: token.data, signature: signature)
        let full = verifier.verifyInFull(changed, receivedAt: Timestamp(receivedAt))
        if let fast = verifier.verifyWithCachedChain(changed, receivedAt: Timestamp(receivedAt)) {
            precondition(fast == full, "the fast check has the same result as the full check")
        }
        precondition(
            changed.inspection().certificates.count <= signature.count, "a certificate has at least one byte")
        if let found = AppleSignatureLayout(signature, token.version) { compare(found, signature, full) }
    }

    /// Compares the parts that the layout finds with those that libcrypto finds, even if the signature is not valid: a
    /// fuzzer cannot find a valid signature.
    private func compare(_ found: AppleSignatureLayout, _ signature: [UInt8], _ full: TokenVerification) {
        guard signature[found.certificates] == token.signature[layout.certificates],
            signature[found.issuerAndSerialNumber] == token.signature[layout.issuerAndSerialNumber]
        else { return }
        if full[.structure].outcome == .failed {
            // The layout does not check that the signing time is a valid time.
            precondition(
                full[.structure].failureReason == .invalidSigningTimeAttribute,
                "libcrypto accepts the structure of the layout"
            )
            return
        }
        let isSameDigest = signature[found.messageDigest] == token.signature[layout.messageDigest]
        precondition((full[.messageDigest].outcome == .passed) == isSameDigest, "both find the same digest")
        let isSameTime = signature[found.signingTime] == token.signature[layout.signingTime]
        precondition((full.signingTime == receivedAt) == isSameTime, "both find the same time")
        precondition(full[.markerExtensions].outcome == .passed, "both find the same certificates")
    }
}
