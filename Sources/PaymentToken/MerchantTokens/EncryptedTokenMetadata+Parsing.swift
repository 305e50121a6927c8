package import StrictJSON

extension EncryptedTokenMetadata {
    /// Creates encrypted token metadata from JSON with the fields `data`, `publicKeyHash`, `signature`, and
    /// `ephemeralPublicKey` (EC_v1) or `wrappedKey` (RSA_v1).
    ///
    /// Parsing is as strict as for payment tokens, with the same limits: see ``ApplePayToken/init(parsing:)``. Unknown
    /// fields are ignored, because Apple adds fields over time. Apple's reference has no field `version`. If the JSON
    /// contains this field, its value must be the version of the key material.
    ///
    /// - Throws: ``PaymentTokenError`` with code `malformed` or `unsupportedVersion`.
    public init(parsing bytes: some Collection<UInt8>) throws(PaymentTokenError) {
        let fields: JSONFields
        do { fields = try JSONFields(parsing: bytes) } catch { throw PaymentTokenError(.malformed, error.description) }
        try self.init(fields)
    }

    /// Creates encrypted token metadata from a parsed JSON object. A field that is null counts as absent.
    package init(_ fields: JSONFields) throws(PaymentTokenError) {
        var fields = fields.acceptingNull()
        let version = try Self.version(&fields)
        do throws(JSONFault) {
            try self.init(
                keyMaterial: fields.keyMaterial(of: version, at: ""), publicKeyHash: fields.publicKeyHash(at: ""),
                data: fields.decodedBase64("data", PermittedLength.data),
                signature: fields.decodedBase64("signature", PermittedLength.signature))
        } catch { throw PaymentTokenError(.malformed, error.description) }
    }

    /// The version that the field `version` names. Without this field, the version of the key material.
    private static func version(_ fields: inout JSONFields) throws(PaymentTokenError) -> ApplePayToken.Version {
        let name: String?
        let hasWrappedKey: Bool
        do throws(JSONFault) {
            name = try fields.string("version")
            hasWrappedKey = try fields.value("wrappedKey") != nil
        } catch { throw PaymentTokenError(.malformed, error.description) }
        if let name { return try ApplePayToken.Version(name: name, of: messageName) }
        return hasWrappedKey ? .rsaV1 : .ecV1
    }
}
