package import StrictJSON

/// A body that a request brings: written by the client, read strictly by the daemon.
package protocol RequestBody: Encodable, Sendable {
    /// - Throws: ``JSONFault`` for an absent, wrong or unknown field, by name.
    init(_ fields: JSONFields) throws(JSONFault)
}

/// `POST /v1/merchants`.
package struct AddMerchantRequest: RequestBody {
    package let merchantIdentifier: String
    package let name: String?
    package let targetActiveKeyPairs: Int?
    /// Make key pairs and CSRs until there are as many as the target says.
    package let generateKeyPairs: Bool?

    package init(
        merchantIdentifier: String, name: String?, targetActiveKeyPairs: Int?, generateKeyPairs: Bool? = nil
    ) {
        self.merchantIdentifier = merchantIdentifier
        self.name = name
        self.targetActiveKeyPairs = targetActiveKeyPairs
        self.generateKeyPairs = generateKeyPairs
    }

    package init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        merchantIdentifier = try fields.requiredString("merchantIdentifier")
        name = try fields.string("name")
        targetActiveKeyPairs = try fields.int("targetActiveKeyPairs")
        generateKeyPairs = try fields.bool("generateKeyPairs")
        try fields.refuseUnknown()
    }
}

/// `PATCH /v1/merchants/{merchantIdentifier}`: what is absent stays as it is.
package struct ChangeMerchantRequest: RequestBody {
    package let name: String?
    package let targetActiveKeyPairs: Int?

    package init(name: String?, targetActiveKeyPairs: Int?) {
        self.name = name
        self.targetActiveKeyPairs = targetActiveKeyPairs
    }

    package init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        for name in ["name", "targetActiveKeyPairs"] { try fields.refuseNull(name) }
        name = try fields.string("name")
        targetActiveKeyPairs = try fields.int("targetActiveKeyPairs")
        try fields.refuseUnknown()
    }
}

/// `POST /v1/merchants/{merchantIdentifier}/keys`; an empty body means the defaults: EC_v1, paymentProcessing.
package struct GenerateKeyRequest: RequestBody {
    package let algorithm: String?
    package let purpose: String?

    package init(algorithm: String?, purpose: String?) {
        self.algorithm = algorithm
        self.purpose = purpose
    }

    package init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        algorithm = try fields.string("algorithm")
        purpose = try fields.string("purpose")
        try fields.refuseUnknown()
    }
}

/// `POST /v1/merchants/{merchantIdentifier}/keys/import`.
package struct ImportKeyRequest: RequestBody {
    /// Base64 of the file: PEM or PKCS#12.
    package let privateKey: String
    /// Base64 of the file: PEM or DER.
    package let certificate: String
    /// As text.
    package let passphrase: String?
    /// `standby` (default), `current` or `retiring`.
    package let state: String?
    package let purpose: String?
    package let allowExpired: Bool?

    package init(
        privateKey: String, certificate: String, passphrase: String?, state: String?, purpose: String?,
        allowExpired: Bool?
    ) {
        self.privateKey = privateKey
        self.certificate = certificate
        self.passphrase = passphrase
        self.state = state
        self.purpose = purpose
        self.allowExpired = allowExpired
    }

    package init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        privateKey = try fields.requiredString("privateKey")
        certificate = try fields.requiredString("certificate")
        passphrase = try fields.string("passphrase")
        state = try fields.string("state")
        purpose = try fields.string("purpose")
        allowExpired = try fields.bool("allowExpired")
        try fields.refuseUnknown()
    }
}

/// `POST /v1/keys/{publicKeyHash}/promote`, `/restore`.
package struct KeyTransitionRequest: RequestBody {
    package let dryRun: Bool?

    package init(dryRun: Bool?) { self.dryRun = dryRun }

    package init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        dryRun = try fields.bool("dryRun")
        try fields.refuseUnknown()
    }
}

/// `POST /v1/keys/{publicKeyHash}/revoke`.
package struct RevokeKeyRequest: RequestBody {
    /// 1 to 1024 bytes; `compromised` overrides the refusal to revoke the last active key.
    package let reason: String
    package let dryRun: Bool?

    package init(reason: String, dryRun: Bool?) {
        self.reason = reason
        self.dryRun = dryRun
    }

    package init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        reason = try fields.requiredString("reason")
        dryRun = try fields.bool("dryRun")
        try fields.refuseUnknown()
    }
}

/// `POST /v1/keys/{publicKeyHash}/destroy`.
package struct DestroyKeyRequest: RequestBody {
    /// How long to wait, in seconds; 30 days where absent, 0 for at once. At most ten years.
    package let afterSeconds: Int?
    package let dryRun: Bool?

    package init(afterSeconds: Int?, dryRun: Bool?) {
        self.afterSeconds = afterSeconds
        self.dryRun = dryRun
    }

    package init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        afterSeconds = try fields.int("afterSeconds")
        dryRun = try fields.bool("dryRun")
        try fields.refuseUnknown()
    }
}
