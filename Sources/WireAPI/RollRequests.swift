package import StrictJSON

/// `POST /v1/merchants/{merchantIdentifier}/rolls`.
package struct StartRollRequest: RequestBody {
    /// Absent: that of the merchant's only current key, EC_v1 where there is none or more than one.
    package let algorithm: String?

    package init(algorithm: String?) { self.algorithm = algorithm }

    package init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        algorithm = try fields.string("algorithm")
        try fields.refuseUnknown()
    }
}

/// `POST /v1/rolls/{rollId}/finish`.
package struct FinishRollRequest: RequestBody {
    /// Do not wait until the old key is quiet; asks for a reason.
    package let now: Bool?
    package let reason: String?
    package let dryRun: Bool?

    package init(now: Bool?, reason: String?, dryRun: Bool?) {
        self.now = now
        self.reason = reason
        self.dryRun = dryRun
    }

    package init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        now = try fields.bool("now")
        reason = try fields.string("reason")
        dryRun = try fields.bool("dryRun")
        try fields.refuseUnknown()
    }
}

/// `POST /v1/rolls/{rollId}/abandon`.
package struct AbandonRollRequest: RequestBody {
    package let reason: String?
    package let dryRun: Bool?

    package init(reason: String?, dryRun: Bool?) {
        self.reason = reason
        self.dryRun = dryRun
    }

    package init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        reason = try fields.string("reason")
        dryRun = try fields.bool("dryRun")
        try fields.refuseUnknown()
    }
}
