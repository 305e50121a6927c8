package import StrictJSON
import Vocabulary

extension ApplePayToken {
    /// The permitted lengths of the decoded parts of a token, in bytes.
    ///
    /// The data of a real token has about 200 bytes, and its signature about 2,700. The data is longer if it contains
    /// the card art of a merchant token or an EMV record.
    enum Bounds {
        static let data = 18...32_768
        static let signature = 0...16_384
        static let applicationDataHash = 32
    }

    /// Creates a token from JSON: a whole payment token, a payment that contains one as `token`, or the `paymentData`
    /// object alone.
    ///
    /// Parsing is strict: at most 64 KiB, no repeated names, canonical Base64. Unknown fields are ignored, because Apple
    /// adds fields over time.
    ///
    /// - Throws: ``PaymentTokenError`` with code `malformed` or `unsupportedVersion`.
    public init(parsing bytes: some Collection<UInt8>) throws(PaymentTokenError) {
        let fields: JSONFields
        do { fields = try JSONFields(parsing: bytes) } catch { throw PaymentTokenError(.malformed, error.description) }
        try self.init(fields)
    }

    /// Creates a token from a parsed JSON object, in the same forms as ``init(parsing:)``.
    package init(_ fields: JSONFields) throws(PaymentTokenError) {
        var envelope = fields
        var paymentData: JSONFields
        let outerIdentifier: String?
        let version: String
        do throws(JSONFault) {
            if let token = try envelope.fields("token") { envelope = token }
            outerIdentifier = try envelope.string("transactionIdentifier")
            paymentData = try envelope.fields("paymentData") ?? envelope
            version = try paymentData.requiredString("version")
        } catch { throw PaymentTokenError(.malformed, error.description) }
        guard let version = Version(rawValue: version) else {
            throw PaymentTokenError(
                .unsupportedVersion, "found version '\(version.prefix(32))', expected EC_v1 or RSA_v1")
        }
        do throws(JSONFault) {
            var header = try paymentData.requiredFields("header")
            try self.init(
                keyMaterial: Self.keyMaterial(&header, version),
                transactionId: Self.transactionId(&header, outer: outerIdentifier),
                publicKeyHash: Self.publicKeyHash(&header),
                applicationDataHash: Self.applicationDataHash(&header),
                data: Self.base64(&paymentData, "data", Bounds.data),
                signature: Self.base64(&paymentData, "signature", Bounds.signature))
        } catch { throw PaymentTokenError(.malformed, error.description) }
    }

    private static func keyMaterial(_ header: inout JSONFields, _ version: Version) throws(JSONFault) -> KeyMaterial {
        let (expected, forbidden) =
            switch version {
            case .ecV1: ("ephemeralPublicKey", "wrappedKey")
            case .rsaV1: ("wrappedKey", "ephemeralPublicKey")
            }
        guard header.value(forbidden) == nil else {
            throw JSONFault(
                "found 'header.\(forbidden)' in a token of version \(version.rawValue), "
                    + "expected only 'header.\(expected)'")
        }
        let bytes = try base64(&header, expected, 1...512)
        do {
            switch version {
            case .ecV1: return .ephemeralPublicKey(try EphemeralPublicKey(derRepresentation: bytes))
            case .rsaV1: return .wrappedKey(try WrappedKey(bytes: bytes))
            }
        } catch { throw JSONFault(error.detail) }
    }

    /// Reads `header.transactionId`, which the signature covers. The signature does not cover the outer
    /// `transactionIdentifier`, so that one, if present, must have the same value. Case is ignored.
    private static func transactionId(
        _ header: inout JSONFields, outer: String?
    ) throws(JSONFault) -> TransactionId {
        let text = try header.requiredString("transactionId")
        guard let id = TransactionId(hex: text) else {
            throw JSONFault(
                "'header.transactionId' has \(text.utf8.count) characters or is not hexadecimal, "
                    + "expected 64 hexadecimal digits")
        }
        if let outer, TransactionId(hex: outer) != id {
            throw JSONFault("'transactionIdentifier' differs from 'header.transactionId', expected the same value")
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
        guard let hash = Hex.decode(text), hash.count == Bounds.applicationDataHash else {
            throw JSONFault("'header.applicationData' is not a SHA-256 hash in hexadecimal, expected 64 digits")
        }
        return hash
    }

    private static func base64(
        _ fields: inout JSONFields, _ name: String, _ count: ClosedRange<Int>
    ) throws(JSONFault) -> [UInt8] {
        let text = try fields.requiredString(name)
        guard let bytes = Base64.decode(text) else {
            throw JSONFault(
                "'\(name)' is not Base64, expected the standard alphabet with padding and without line breaks")
        }
        guard count.contains(bytes.count) else {
            throw JSONFault(
                "'\(name)' has \(bytes.count) bytes, expected \(count.lowerBound) to \(count.upperBound)")
        }
        return [UInt8](bytes)
    }
}
