package import StrictJSON

/// `POST /v1/master-key/rotation`.
package struct RotateMasterKeyRequest: RequestBody {
    /// Whether the master key stays and only the data key is replaced.
    package let dataKeyOnly: Bool?
    package let dryRun: Bool?

    package init(dataKeyOnly: Bool?, dryRun: Bool?) {
        self.dataKeyOnly = dataKeyOnly
        self.dryRun = dryRun
    }

    package init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        dataKeyOnly = try fields.bool("dataKeyOnly")
        dryRun = try fields.bool("dryRun")
        try fields.refuseUnknown()
    }
}

/// `GET /v1/master-key`.
package struct MasterKeyDocument: Codable, Hashable, Sendable {
    package struct Rotation: Codable, Hashable, Sendable {
        /// `sealing`, `erasing` or `finished`.
        package let state: String
        package let dataKeyOnly: Bool
        package let dataKeyIdentifier: Int
        /// How many private keys there were to seal anew, and how many are.
        package let total: Int
        package let done: Int
        package let startedAt: String
        package let finishedAt: String?
        /// What keeps it from going on; absent for nothing.
        package let obstacle: String?

        package init(
            state: String, dataKeyOnly: Bool, dataKeyIdentifier: Int, total: Int, done: Int, startedAt: String,
            finishedAt: String?, obstacle: String?
        ) {
            self.state = state
            self.dataKeyOnly = dataKeyOnly
            self.dataKeyIdentifier = dataKeyIdentifier
            self.total = total
            self.done = done
            self.startedAt = startedAt
            self.finishedAt = finishedAt
            self.obstacle = obstacle
        }
    }

    /// Lower-case hexadecimal: tells it from others, and nothing of the key. New private keys are sealed by it.
    package let masterKeyIdentifier: String
    package let dataKeyIdentifier: Int
    /// Where the settings say that the master key comes from.
    package let source: String
    /// The last one, finished or not; absent where there was none.
    package let rotation: Rotation?

    package init(masterKeyIdentifier: String, dataKeyIdentifier: Int, source: String, rotation: Rotation?) {
        self.masterKeyIdentifier = masterKeyIdentifier
        self.dataKeyIdentifier = dataKeyIdentifier
        self.source = source
        self.rotation = rotation
    }
}

/// What a rotation will do, or would do.
package struct RotationPlanDocument: Codable, Hashable, Sendable {
    package let dryRun: Bool
    /// Whether one was under way already, which goes on.
    package let joins: Bool
    /// In words.
    package let steps: [String]
    package let masterKey: MasterKeyDocument

    package init(dryRun: Bool, joins: Bool, steps: [String], masterKey: MasterKeyDocument) {
        self.dryRun = dryRun
        self.joins = joins
        self.steps = steps
        self.masterKey = masterKey
    }
}
