package import StrictJSON
import Vocabulary

extension ApplePayToken {
    /// Bounds on the decoded parts. Real tokens hold about 200 bytes of data and 2,700 of signature; a merchant token's
    /// card art and an EMV record make the data longer.
    enum Bounds {
        static let data = 18...32_768
        static let signature = 0...16_384
        static let applicationDataHash = 32
    }

    /// Reads a whole payment token, the same inside a payment (`token`), or its `paymentData` alone.
    ///
    /// Strict: at most 64 KiB, each name once, Base64 in its one spelling. Fields that nobody knows are passed over,
    /// because Apple adds some.
    ///
    /// - Throws: ``PaymentTokenError`` with code `malformed` or `unsupportedVersion`.
    public init(parsing bytes: some Collection<UInt8>) throws(PaymentTokenError) {
        let fields: JSONFields
        do { fields = try JSONFields(parsing: bytes) } catch { throw PaymentTokenError(.malformed, error.description) }
        try self.init(fields)
    }

    /// As ``init(parsing:)``, of an object that is already parsed.
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
        let (mine, other) =
            switch version {
            case .ecV1: ("ephemeralPublicKey", "wrappedKey")
            case .rsaV1: ("wrappedKey", "ephemeralPublicKey")
            }
        guard header.value(other) == nil else {
            throw JSONFault(
                "found 'header.\(other)' in a token of \(version.rawValue), expected 'header.\(mine)' alone")
        }
        let bytes = try base64(&header, mine, 1...512)
        do {
            switch version {
            case .ecV1: return .ephemeralPublicKey(try EphemeralPublicKey(derRepresentation: bytes))
            case .rsaV1: return .wrappedKey(try WrappedKey(bytes: bytes))
            }
        } catch { throw JSONFault(error.detail) }
    }

    /// The identifier outside is not signed; where it is sent, it names the same payment, whatever its case.
    private static func transactionId(
        _ header: inout JSONFields, outer: String?
    ) throws(JSONFault) -> TransactionId {
        let text = try header.requiredString("transactionId")
        guard let id = TransactionId(hex: text) else {
            throw JSONFault(
                "'header.transactionId' holds \(text.utf8.count) characters that are not such an identifier, "
                    + "expected 64 hexadecimal digits")
        }
        if let outer, TransactionId(hex: outer) != id {
            throw JSONFault("'transactionIdentifier' differs from 'header.transactionId', expected the same identifier")
        }
        return id
    }

    private static func publicKeyHash(_ header: inout JSONFields) throws(JSONFault) -> PublicKeyHash {
        let text = try header.requiredString("publicKeyHash")
        guard let hash = PublicKeyHash(base64: text) else {
            throw JSONFault("'header.publicKeyHash' is not a SHA-256 in Base64, expected 44 characters, padded")
        }
        return hash
    }

    private static func applicationDataHash(_ header: inout JSONFields) throws(JSONFault) -> [UInt8]? {
        guard let text = try header.string("applicationData") else { return nil }
        guard let hash = Hex.decode(text), hash.count == Bounds.applicationDataHash else {
            throw JSONFault("'header.applicationData' is not a SHA-256 in hexadecimal, expected 64 digits")
        }
        return hash
    }

    private static func base64(
        _ fields: inout JSONFields, _ name: String, _ count: ClosedRange<Int>
    ) throws(JSONFault) -> [UInt8] {
        let text = try fields.requiredString(name)
        guard let bytes = Base64.decode(text) else {
            throw JSONFault("'\(name)' is not Base64, expected the standard alphabet, padded, without line breaks")
        }
        guard count.contains(bytes.count) else {
            throw JSONFault(
                "'\(name)' holds \(bytes.count) bytes, expected \(count.lowerBound) to \(count.upperBound)")
        }
        return [UInt8](bytes)
    }
}
