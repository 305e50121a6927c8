package import StrictJSON
import Vocabulary

extension ApplePayToken {
    /// The permitted lengths of the decoded parts of a token, in bytes.
    ///
    /// In a real token, the data has about 200 bytes, and the signature about 2,700. The data is longer if it contains
    /// an EMV record, or the card images of a merchant token. The shortest data is an encrypted `{}` (2 bytes) and the
    /// GCM tag (16 bytes).
    enum PermittedLength {
        static let data = 18...32_768
        static let signature = 0...16_384
        static let applicationDataHash = 32
    }

    /// Creates a token from JSON in one of three forms: a whole payment token, an object whose field `token` contains
    /// the whole token (Apple's `ApplePayPayment`), or the token's `paymentData` object alone.
    ///
    /// Parsing is strict: it rejects more than 64 KiB, repeated field names, and Base64 that is not canonical. Unknown
    /// fields are ignored, because Apple adds fields over time.
    ///
    /// - Throws: ``PaymentTokenError`` with code `malformed` or `unsupportedVersion`.
    public init(parsing bytes: some Collection<UInt8>) throws(PaymentTokenError) {
        let fields: JSONFields
        do { fields = try JSONFields(parsing: bytes) } catch { throw PaymentTokenError(.malformed, error.description) }
        try self.init(fields)
    }

    /// Creates a token from a parsed JSON object, in the same forms as ``init(parsing:)``.
    ///
    /// A field that is null counts as absent, although the daemon's requests permit no null: programs that pass a token
    /// on may write the optional fields of the token as null.
    package init(_ fields: JSONFields) throws(PaymentTokenError) {
        var token = fields.acceptingNull()
        var paymentData: JSONFields
        let outerIdentifier: String?
        let version: String
        do throws(JSONFault) {
            if let tokenOfPayment = try token.fields("token") { token = tokenOfPayment }
            outerIdentifier = try token.string("transactionIdentifier")
            // Without the field, the JSON is the `paymentData` object alone.
            paymentData = try token.fields("paymentData") ?? token
            version = try paymentData.requiredString("version")
        } catch { throw PaymentTokenError(.malformed, error.description) }
        guard let version = Version(rawValue: version) else {
            throw PaymentTokenError(
                .unsupportedVersion,
                "the token has version '\(version.prefix(32))', but only EC_v1 and RSA_v1 are supported")
        }
        do throws(JSONFault) {
            var header = try paymentData.requiredFields("header")
            try self.init(
                keyMaterial: Self.keyMaterial(&header, version),
                transactionId: Self.transactionId(&header, outer: outerIdentifier),
                publicKeyHash: Self.publicKeyHash(&header),
                applicationDataHash: Self.applicationDataHash(&header),
                data: Self.decodedBase64(&paymentData, "data", PermittedLength.data),
                signature: Self.decodedBase64(&paymentData, "signature", PermittedLength.signature))
        } catch { throw PaymentTokenError(.malformed, error.description) }
    }

    private static func keyMaterial(_ header: inout JSONFields, _ version: Version) throws(JSONFault) -> KeyMaterial {
        let (expected, forbidden) =
            switch version {
            case .ecV1: ("ephemeralPublicKey", "wrappedKey")
            case .rsaV1: ("wrappedKey", "ephemeralPublicKey")
            }
        guard try header.value(forbidden) == nil else {
            throw JSONFault(
                "a token of version \(version.rawValue) must have 'header.\(expected)' "
                    + "and must not have 'header.\(forbidden)'")
        }
        let bytes = try decodedBase64(&header, expected, 1...512)
        do {
            switch version {
            case .ecV1: return .ephemeralPublicKey(try EphemeralPublicKey(derRepresentation: bytes))
            case .rsaV1: return .wrappedKey(try WrappedKey(bytes: bytes))
            }
        } catch { throw JSONFault(error.detail) }
    }

    /// Reads `header.transactionId`, which the signature covers.
    ///
    /// The signature does not cover the `transactionIdentifier` outside `paymentData` (`outer`). If that field is
    /// present, it must therefore have the same value. Upper-case and lower-case digits are equal.
    private static func transactionId(
        _ header: inout JSONFields, outer: String?
    ) throws(JSONFault) -> TransactionId {
        let text = try header.requiredString("transactionId")
        guard let id = TransactionId(hex: text) else {
            throw JSONFault(
                "'header.transactionId' (\(text.utf8.count.counted("character"))) is not a transaction identifier, "
                    + "expected 64 hexadecimal digits")
        }
        if let outer, TransactionId(hex: outer) != id {
            throw JSONFault("'transactionIdentifier' must have the same value as 'header.transactionId'")
        }
        return id
    }

    private static func publicKeyHash(_ header: inout JSONFields) throws(JSONFault) -> PublicKeyHash {
        let text = try header.requiredString("publicKeyHash")
        guard let hash = PublicKeyHash(base64: text) else {
            throw JSONFault(
                "'header.publicKeyHash' is not a SHA-256 hash in Base64, expected 44 characters with padding")
        }
        return hash
    }

    private static func applicationDataHash(_ header: inout JSONFields) throws(JSONFault) -> [UInt8]? {
        guard let text = try header.string("applicationData") else { return nil }
        guard let hash = Hex.decode(text), hash.count == PermittedLength.applicationDataHash else {
            throw JSONFault("'header.applicationData' is not a SHA-256 hash in hexadecimal, expected 64 digits")
        }
        return hash
    }

    /// Reads and decodes a required Base64 field. `permittedLength` counts decoded bytes.
    private static func decodedBase64(
        _ fields: inout JSONFields, _ name: String, _ permittedLength: ClosedRange<Int>
    ) throws(JSONFault) -> [UInt8] {
        let text = try fields.requiredString(name)
        guard let bytes = Base64.decode(text) else {
            throw JSONFault(
                "'\(name)' is not Base64, expected the standard alphabet with padding and without line breaks")
        }
        guard permittedLength.contains(bytes.count) else {
            throw JSONFault(
                "'\(name)' has \(bytes.count.counted("byte")), "
                    + "expected \(permittedLength.lowerBound) to \(permittedLength.upperBound)")
        }
        return [UInt8](bytes)
    }
}
