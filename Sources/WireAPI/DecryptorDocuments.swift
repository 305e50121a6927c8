package import StrictJSON

/// The answer of `GET /v1/keys/{publicKeyHash}` on the decryptor's socket.
package struct ResolvedKeyDocument: Codable, Hashable, Sendable {
    package let publicKeyHash: String
    package let merchantIdentifier: String
    package let merchantIdentifierHash: String
    package let algorithm: String
    package let state: String
    /// PEM.
    package let certificate: String
    package let notBefore: String
    package let notAfter: String
    /// PKCS#8 in PEM; only with `?include=privateKey` and the permit `exportPrivateKey`.
    package let privateKey: String?

    package init(
        publicKeyHash: String, merchantIdentifier: String, merchantIdentifierHash: String, algorithm: String,
        state: String, certificate: String, notBefore: String, notAfter: String, privateKey: String?
    ) {
        self.publicKeyHash = publicKeyHash
        self.merchantIdentifier = merchantIdentifier
        self.merchantIdentifierHash = merchantIdentifierHash
        self.algorithm = algorithm
        self.state = state
        self.certificate = certificate
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.privateKey = privateKey
    }
}

/// `POST /v1/keys/{publicKeyHash}/symmetric-key`: exactly one of the two.
package struct SymmetricKeyRequest: RequestBody {
    /// EC_v1. Base64 of a DER SubjectPublicKeyInfo.
    package let ephemeralPublicKey: String?
    /// RSA_v1. Base64 of 256 bytes.
    package let wrappedKey: String?

    package init(ephemeralPublicKey: String?, wrappedKey: String?) {
        self.ephemeralPublicKey = ephemeralPublicKey
        self.wrappedKey = wrappedKey
    }

    package init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        ephemeralPublicKey = try fields.string("ephemeralPublicKey")
        wrappedKey = try fields.string("wrappedKey")
        try fields.refuseUnknown()
        guard (ephemeralPublicKey == nil) != (wrappedKey == nil) else {
            throw JSONFault(
                "found \(ephemeralPublicKey == nil ? "neither" : "both"), expected exactly one of 'ephemeralPublicKey' and 'wrappedKey'"
            )
        }
    }
}

/// Its answer: Base64 of 32 bytes for EC_v1, of 16 for RSA_v1.
package struct SymmetricKeyDocument: Codable, Sendable {
    package let symmetricKey: String

    package init(symmetricKey: String) { self.symmetricKey = symmetricKey }
}

/// One check of a payment token and what it found.
package struct CheckDocument: Codable, Hashable, Sendable {
    package let check: String
    /// `passed`, `failed` or `notChecked`.
    package let outcome: String
    package let finding: String

    package init(check: String, outcome: String, finding: String) {
        self.check = check
        self.outcome = outcome
        self.finding = finding
    }
}

/// Every check, in the order of Apple's steps.
package struct VerificationDocument: Codable, Hashable, Sendable {
    /// Whether every check that was made passed, the signature's among them.
    package let verified: Bool
    package let checks: [CheckDocument]

    package init(verified: Bool, checks: [CheckDocument]) {
        self.verified = verified
        self.checks = checks
    }
}
