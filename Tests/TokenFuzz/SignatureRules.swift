import FoundationEssentials
import PaymentToken
import Vocabulary

/// What must hold for any bytes in place of a right token's signature.
struct SignatureRules {
    /// The right token, and the root it chains to, are files that the environment names.
    static let original: SignatureRules = {
        do { return try SignatureRules(ProcessInfo.processInfo.environment) } catch {
            fatalError("MERCHANTKEYD_FUZZ_TOKEN and MERCHANTKEYD_FUZZ_ROOT name a right token and its root: \(error)")
        }
    }()

    let verifier: SignatureVerifier
    let receivedAt: Date
    private let token: ApplePayToken
    private let shape: AppleSignatureShape

    struct NotRight: Error {}

    private init(_ environment: [String: String]) throws {
        let files = try ["MERCHANTKEYD_FUZZ_TOKEN", "MERCHANTKEYD_FUZZ_ROOT"].map { name in
            guard let path = environment[name] else { throw NotRight() }
            return try Data(contentsOf: URL(filePath: path))
        }
        token = try ApplePayToken(parsing: files[0])
        verifier = SignatureVerifier(
            environment: TokenEnvironment.sandbox,
            trustRoots: try TrustRoot.reading(pem: String(decoding: files[1], as: UTF8.self)))
        guard let signedAt = token.inspection().signingTime,
            let shape = AppleSignatureShape(token.signature, token.version)
        else { throw NotRight() }
        receivedAt = signedAt
        self.shape = shape
        // From here on its chain is remembered.
        try verifier.verify(token, receivedAt: signedAt).requireVerified()
    }

    func check(_ signature: [UInt8]) {
        let changed = ApplePayToken(
            keyMaterial: token.keyMaterial, transactionId: token.transactionId, publicKeyHash: token.publicKeyHash,
            applicationDataHash: token.applicationDataHash, data: token.data, signature: signature)
        let long = verifier.verifyByLibCrypto(changed, receivedAt: Timestamp(receivedAt))
        if let short = verifier.verifyByMemory(changed, receivedAt: Timestamp(receivedAt)) {
            precondition(short == long, "whatever memory accepts, libcrypto accepts in the same words")
        }
        precondition(changed.inspection().certificates.count <= signature.count, "nothing is made up")
        if let found = AppleSignatureShape(signature, token.version) { compare(found, signature, long) }
    }

    /// A shape that is read by hand says what libcrypto says, right or not: so that a difference shows without a
    /// signature that fits it, which no fuzzer finds.
    private func compare(_ found: AppleSignatureShape, _ signature: [UInt8], _ long: TokenVerification) {
        guard signature[found.certificates] == token.signature[shape.certificates],
            signature[found.issuerAndSerialNumber] == token.signature[shape.issuerAndSerialNumber]
        else { return }
        if long[.structure].outcome == .failed {
            precondition(long[.structure].finding.contains("signingTime"), "libcrypto reads what the short way reads")
            return
        }
        let isSameDigest = signature[found.messageDigest] == token.signature[shape.messageDigest]
        precondition((long[.messageDigest].outcome == .passed) == isSameDigest, "both read the same digest")
        let isSameTime = signature[found.signingTime] == token.signature[shape.signingTime]
        precondition((long.signingTime == receivedAt) == isSameTime, "both read the same time")
        precondition(long[.markers].outcome == .passed, "both read the same certificates")
    }
}
