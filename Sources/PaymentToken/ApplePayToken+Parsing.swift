package import StrictJSON
import Vocabulary

extension ApplePayToken {
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
    /// A field that is null counts as absent. The daemon's requests permit null only inside a token, because programs
    /// that pass a token on may write its absent fields as null.
    package init(_ fields: JSONFields) throws(PaymentTokenError) {
        var token = fields.acceptingNull()
        var paymentData: JSONFields
        let outerIdentifier: String?
        let versionName: String
        do throws(JSONFault) {
            if let tokenOfPayment = try token.fields("token") { token = tokenOfPayment }
            outerIdentifier = try token.string("transactionIdentifier")
            // Without the field, the JSON is the `paymentData` object alone.
            paymentData = try token.fields("paymentData") ?? token
            versionName = try paymentData.requiredString("version")
        } catch { throw PaymentTokenError(.malformed, error.description) }
        let version = try Version(name: versionName, of: Self.messageName)
        do throws(JSONFault) {
            var header = try paymentData.requiredFields("header")
            try self.init(
                keyMaterial: header.keyMaterial(of: version, at: "header."),
                transactionId: Self.transactionId(&header, outer: outerIdentifier),
                publicKeyHash: header.publicKeyHash(at: "header."),
                applicationDataHash: Self.applicationDataHash(&header),
                data: paymentData.decodedBase64("data", PermittedLength.data),
                signature: paymentData.decodedBase64("signature", PermittedLength.signature))
        } catch { throw PaymentTokenError(.malformed, error.description) }
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

    private static func applicationDataHash(_ header: inout JSONFields) throws(JSONFault) -> [UInt8]? {
        guard let text = try header.string("applicationData") else { return nil }
        guard let hash = Hex.decode(text), hash.count == PermittedLength.applicationDataHash else {
            throw JSONFault("'header.applicationData' is not a SHA-256 hash in hexadecimal, expected 64 digits")
        }
        return hash
    }
}
