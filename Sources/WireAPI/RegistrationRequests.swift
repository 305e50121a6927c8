package import StrictJSON

/// `POST /v1/registrations`: registers a merchant with Apple, or adds domains to its registration.
package struct RegisterRequest: RequestBody {
    package let partnerInternalMerchantIdentifier: String
    /// Where absent, what the registration has.
    package let partnerMerchantName: String?
    /// 1 to 99.
    package let domainNames: [String]
    /// Where absent, what the registration has, else the platform's only integrator identifier.
    package let encryptTo: String?
    package let merchantUrl: String?
    /// The merchant record it belongs to.
    package let merchantIdentifier: String?

    package init(
        partnerInternalMerchantIdentifier: String, partnerMerchantName: String?, domainNames: [String],
        encryptTo: String?, merchantUrl: String?, merchantIdentifier: String?
    ) {
        self.partnerInternalMerchantIdentifier = partnerInternalMerchantIdentifier
        self.partnerMerchantName = partnerMerchantName
        self.domainNames = domainNames
        self.encryptTo = encryptTo
        self.merchantUrl = merchantUrl
        self.merchantIdentifier = merchantIdentifier
    }

    package init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        partnerInternalMerchantIdentifier = try fields.requiredString("partnerInternalMerchantIdentifier")
        partnerMerchantName = try fields.string("partnerMerchantName")
        domainNames = try fields.strings("domainNames") ?? []
        encryptTo = try fields.string("encryptTo")
        merchantUrl = try fields.string("merchantUrl")
        merchantIdentifier = try fields.string("merchantIdentifier")
        try fields.refuseUnknown()
    }
}

/// `DELETE /v1/registrations/{partnerInternalMerchantIdentifier}`.
package struct UnregisterRequest: RequestBody {
    /// Absent: every one.
    package let domainNames: [String]?
    /// 1 to 1024 bytes; Apple is told.
    package let reason: String

    package init(domainNames: [String]?, reason: String) {
        self.domainNames = domainNames
        self.reason = reason
    }

    package init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        domainNames = try fields.strings("domainNames")
        reason = try fields.requiredString("reason")
        try fields.refuseUnknown()
    }
}

/// `POST /v1/registrations/sync`; an empty body compares from the beginning and mends nothing.
package struct SyncRequest: RequestBody {
    package let repair: Bool?
    /// How many to compare, 1 to 1000; 100 where absent.
    package let limit: Int?
    /// The `nextCursor` of the stretch before.
    package let cursor: String?

    package init(repair: Bool?, limit: Int?, cursor: String?) {
        self.repair = repair
        self.limit = limit
        self.cursor = cursor
    }

    package init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        repair = try fields.bool("repair")
        limit = try fields.int("limit")
        cursor = try fields.string("cursor")
        try fields.refuseUnknown()
    }
}

/// `POST /v1/domain-checks`.
package struct DomainCheckRequest: RequestBody {
    package let domainName: String

    package init(domainName: String) { self.domainName = domainName }

    package init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        domainName = try fields.requiredString("domainName")
        try fields.refuseUnknown()
    }
}
