import FoundationEssentials
import PaymentToken
import Secrets
import Vocabulary

/// What strangers' bytes are read by. Each target reads them as the daemon would, and traps where a rule does not hold.
enum FuzzTarget: String, CaseIterable {
    /// A token's JSON, and everything that is asked of a token without a key.
    case token
    /// The CMS message of a right token.
    case signature
    /// The JSON inside a token.
    case plaintext
    /// Trust roots, DER or PEM.
    case certificate

    func read(_ bytes: [UInt8]) {
        switch self {
        case .token: Self.readToken(bytes)
        case .signature: SignatureRules.original.check(bytes)
        case .plaintext: Self.readPlaintext(bytes)
        case .certificate: Self.readCertificate(bytes)
        }
    }

    private static func readToken(_ bytes: [UInt8]) {
        guard let token = try? ApplePayToken(parsing: bytes) else { return }
        let inspection = token.inspection()
        precondition(inspection.transactionId.utf8.count == 64, "a transactionId has one length")
        precondition(
            token.keyMaterial.bytes.count == (token.version == .ecV1 ? 91 : 256), "key material has one length")
        let verification = SignatureRules.original.verifier.verify(
            token, receivedAt: SignatureRules.original.receivedAt)
        precondition(verification.checks.count == TokenVerification.CheckName.allCases.count, "no check is left out")
    }

    private static func readPlaintext(_ bytes: [UInt8]) {
        let opened = DecryptedPaymentData(plaintext: SecretBytes(copying: bytes))
        guard let data = try? opened.paymentData() else { return }
        precondition((8...19).contains(data.applicationPrimaryAccountNumber.exposed.utf8.count), "8 to 19 digits")
        let fields = data.maskedFields
        precondition(fields.count >= 6 && "\(data)" == "(redacted)", "tables mask, descriptions redact")
        for network in AuthorizationFields.Network.allCases { _ = data.authorizationFields(for: network) }
    }

    private static func readCertificate(_ bytes: [UInt8]) {
        if let root = try? TrustRoot(derRepresentation: bytes) {
            precondition(root.derRepresentation == bytes, "a root is kept as it was read")
        }
        guard let roots = try? TrustRoot.reading(pem: String(decoding: bytes, as: UTF8.self)) else { return }
        precondition(!roots.isEmpty, "a file of roots holds at least one")
    }
}
