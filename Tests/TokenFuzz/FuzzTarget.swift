import FoundationEssentials
import PaymentToken
import Secrets
import Vocabulary

/// The parsers for untrusted input. Each target parses the input as the daemon does, and traps if a rule is violated.
enum FuzzTarget: String, CaseIterable {
    /// The JSON of a token, its inspection and its verification.
    case token
    /// The CMS message of a token that is valid otherwise.
    case signature
    /// The JSON of encrypted token metadata, and its verification.
    case metadata
    /// The plaintext of a token or of token metadata.
    case plaintext
    /// Trust roots in DER or PEM.
    case certificate

    func parse(_ bytes: [UInt8]) {
        switch self {
        case .token: Self.parseToken(bytes)
        case .signature: SignatureRules.original.check(bytes)
        case .metadata: Self.parseMetadata(bytes)
        case .plaintext:
            Self.parsePlaintext(bytes)
            Self.parseMetadataPlaintext(bytes)
        case .certificate: Self.parseCertificate(bytes)
        }
    }

    private static func parseToken(_ bytes: [UInt8]) {
        guard let token = try? ApplePayToken(parsing: bytes) else { return }
        let inspection = token.inspection()
        precondition(inspection.transactionId.utf8.count == 64, "a transactionId has 64 digits")
        precondition(
            token.keyMaterial.bytes.count == (token.version == .ecV1 ? 91 : 256),
            "the length of the key material depends on the version only")
        let verification = SignatureRules.original.verifier.verify(
            token, receivedAt: SignatureRules.original.receivedAt)
        precondition(
            verification.checks.count == TokenVerification.CheckName.allCases.count,
            "a verification contains every check")
    }

    private static func parseMetadata(_ bytes: [UInt8]) {
        guard let metadata = try? EncryptedTokenMetadata(parsing: bytes) else { return }
        precondition(
            metadata.keyMaterial.bytes.count == (metadata.version == .ecV1 ? 91 : 256),
            "the length of the key material depends on the version only")
        precondition(
            metadata.signedContent == metadata.keyMaterial.bytes + metadata.data, "the signature covers all fields")
        let original = SignatureRules.original
        let full = original.verifier.verifyInFull(metadata, receivedAt: Timestamp(original.receivedAt))
        precondition(
            full.checks.count == TokenVerification.CheckName.allCases.count, "a verification contains every check")
        if let fast = original.verifier.verifyWithCachedChain(metadata, receivedAt: Timestamp(original.receivedAt)) {
            precondition(fast == full, "the fast check has the same result as the full check")
        }
    }

    private static func parseMetadataPlaintext(_ bytes: [UInt8]) {
        guard let metadata = try? DecryptedTokenMetadata(plaintext: SecretBytes(copying: bytes)) else { return }
        precondition(metadata.expirationDate.utf8.count == 6, "an expiration date has 6 digits")
        precondition((8...19).contains(metadata.withMPAN(\.count)), "an account number has 8 to 19 digits")
        precondition(metadata.mpanIdentifier.map { (1...128).contains($0.utf8.count) } ?? true, "bounded identifier")
    }

    private static func parsePlaintext(_ bytes: [UInt8]) {
        let opened = DecryptedPaymentData(plaintext: SecretBytes(copying: bytes))
        guard let data = try? opened.paymentData() else { return }
        precondition(
            (8...19).contains(data.applicationPrimaryAccountNumber.unredacted.utf8.count),
            "an account number has 8 to 19 digits")
        let fields = data.maskedFields
        precondition(fields.count >= 6 && "\(data)" == "(redacted)", "the description is redacted")
        for network in AuthorizationFields.Network.allCases { _ = data.authorizationFields(for: network) }
    }

    private static func parseCertificate(_ bytes: [UInt8]) {
        if let root = try? TrustRoot(derRepresentation: bytes) {
            precondition(root.derRepresentation == bytes, "a root keeps its encoding")
        }
        guard let roots = try? TrustRoot.reading(pem: String(decoding: bytes, as: UTF8.self)) else { return }
        precondition(!roots.isEmpty, "a PEM file of roots contains at least one")
    }
}
