package import StrictJSON
package import Vocabulary

extension Paths {
    package static let verifyToken = "/v1/payment-tokens/verify"
    package static let decryptToken = "/v1/payment-tokens/decrypt"

    package static func symmetricKey(of hash: PublicKeyHash) -> String { "\(key(hash))/symmetric-key" }
}

/// The response of `GET /v1/keys/{publicKeyHash}` on the decryptor socket: the merchant and the certificate that belong
/// to a publicKeyHash.
package struct ResolvedKeyDocument: Codable, Hashable, Sendable {
    package let publicKeyHash: PublicKeyHash
    package let merchantIdentifier: MerchantIdentifier
    package let merchantIdentifierHash: MerchantIdentifierHash
    package let algorithm: KeyAlgorithm
    package let state: KeyState
    /// The certificate in PEM.
    package let certificate: String
    package let notBefore: Timestamp
    package let notAfter: Timestamp
    /// PKCS#8 in PEM. Present only if the request has `?include=privateKey` and the caller has the permit
    /// `exportPrivateKey`.
    package var privateKey: String?

    package init(
        _ hash: PublicKeyHash, of merchant: MerchantIdentifier, algorithm: KeyAlgorithm, state: KeyState,
        certificate pem: String, validFrom notBefore: Timestamp, to notAfter: Timestamp
    ) {
        (publicKeyHash, merchantIdentifier) = (hash, merchant)
        merchantIdentifierHash = MerchantIdentifierHash(of: merchant)
        (self.algorithm, self.state, certificate) = (algorithm, state, pem)
        (self.notBefore, self.notAfter) = (notBefore, notAfter)
    }
}

/// The body of `POST /v1/keys/{publicKeyHash}/symmetric-key`, which must have exactly one of the two fields.
package struct SymmetricKeyRequest: RequestBody {
    /// For EC_v1: the token's ephemeral public key, a DER SubjectPublicKeyInfo in Base64.
    package var ephemeralPublicKey: String?
    /// For RSA_v1: the token's encrypted symmetric key, 256 bytes in Base64.
    package var wrappedKey: String?

    package init() {}

    /// Reads the two fields without `Decodable`, which is slower. A decryptor may send this request for every payment.
    package init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        ephemeralPublicKey = try fields.string("ephemeralPublicKey")
        wrappedKey = try fields.string("wrappedKey")
        try fields.refuseUnknown()
        guard (ephemeralPublicKey == nil) != (wrappedKey == nil) else {
            throw JSONFault(
                "the body has \(wrappedKey == nil ? "neither" : "both") of the fields 'ephemeralPublicKey' and 'wrappedKey'; send exactly one of them"
            )
        }
    }
}

/// The response of `POST /v1/keys/{publicKeyHash}/symmetric-key`.
package struct SymmetricKeyDocument: Codable, Sendable {
    /// The key in Base64: 32 bytes for EC_v1, 16 bytes for RSA_v1.
    package let symmetricKey: String
}

/// One check of a payment token and its result.
package struct CheckDocument: Codable, Hashable, Sendable {
    /// The name of the check, such as `signature`.
    package let check: String
    /// `passed`, `failed` or `notChecked`.
    package let outcome: String
    /// A sentence that explains the outcome.
    package let finding: String
}

/// The result of verifying a payment token.
package struct VerificationDocument: Codable, Hashable, Sendable {
    /// Whether every check of the signature passed. False if the caller declined the verification (`"verify": false`).
    package let verified: Bool
    /// First the checks of the token's signature, in the order in which the daemon performs them. In the response to a
    /// decryption, the comparisons with the values that the caller expects follow, and last the claim (`replay`).
    package let checks: [CheckDocument]
}

/// The fields of a decrypted token, with the names that a card network's authorization message uses. The response has
/// these fields if the request has `"view": "authorization"`.
package struct AuthorizationDocument: Codable, Sendable {
    /// The card network whose field names are used: `americanExpress`, or `general` for all other networks.
    package let network: String
    package let primaryAccountNumber: String
    /// YYMMDD.
    package let expirationDate: String
    /// TAVV, CAVV or UCAF, Base64; absent for American Express.
    package let cryptogram: String?
    package let electronicCommerceIndicator: String?
    /// American Express: the cryptogram, Base64.
    package let tokenBlockA: String?
    /// American Express: as many zero bytes as block A has, Base64.
    package let tokenBlockB: String?
    package let tokenRequestorID: String?
}
