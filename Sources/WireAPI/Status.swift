package import Vocabulary

extension Paths {
    package static let status = "/v1/status"
}

/// `GET /v1/status`.
package struct StatusDocument: Codable, Hashable, Sendable {
    /// A condition that an operator should know or act on; at most one for each code.
    package struct Finding: Codable, Hashable, Sendable {
        /// A merchant, a key pair or another subject of the finding.
        package struct Item: Codable, Hashable, Sendable {
            package let severity: String
            package let detail: String
            package var merchantIdentifier: MerchantIdentifier?
            package var publicKeyHash: PublicKeyHash?

            package init(severity: String, detail: String) { (self.severity, self.detail) = (severity, detail) }
        }

        /// `notice`, `warning` or `critical`: that of the most urgent subject.
        package let severity: String
        package let code: String
        package let detail: String
        /// How many merchants, key pairs or other subjects it has.
        package var count = 1
        /// The same by severity; every severity is present.
        package var countBySeverity: [String: Int] = [:]
        /// At most 5, most urgent first; absent where `detail` says everything.
        package var mostUrgent: [Item]?

        package init(severity: String, code: String, detail: String) {
            (self.severity, self.code, self.detail) = (severity, code, detail)
        }
    }

    /// A configured webhook.
    package struct Webhook: Codable, Hashable, Sendable {
        package let name: String
        /// Events that were not delivered yet, including those whose delivery failed.
        package var undelivered = 0
        /// Events whose delivery failed for 24 hours and is not attempted again until requested.
        package var parked = 0
        /// When the oldest undelivered event occurred.
        package var oldestUndelivered: Timestamp?
        package var lastDelivered: Timestamp?
        package var lastFailed: Timestamp?
        package var lastFailure: String?

        package init(_ name: String) { self.name = name }
    }

    /// How many certificates of active key pairs expire in the week that begins then.
    package struct Week: Codable, Hashable, Sendable {
        package let begins: Timestamp
        package let ending: Int

        package init(begins: Timestamp, ending: Int) { (self.begins, self.ending) = (begins, ending) }
    }

    /// A revoked key pair whose private key will be erased; until then restore takes it back.
    package struct Destruction: Codable, Hashable, Sendable {
        package let publicKeyHash: PublicKeyHash
        package let merchantIdentifier: MerchantIdentifier
        package let destroyAfter: Timestamp

        package init(_ hash: PublicKeyHash, of merchant: MerchantIdentifier, after time: Timestamp) {
            (publicKeyHash, merchantIdentifier, destroyAfter) = (hash, merchant, time)
        }
    }

    package let version: String
    package let environment: Environment
    package let time: Timestamp
    package let startedAt: Timestamp
    package var merchants = 0
    package var merchantsBelowTarget = 0
    /// By state; every state is present.
    package var keyPairs: [String: Int] = [:]
    package var certificates = 0
    package var auditRecords = 0
    /// nil before the first record.
    package var auditHead: AuditHeadDocument?
    /// nil from a daemon that takes no backups.
    package var backups: BackupCoverageDocument?
    /// Merchants that have a domain registered with Apple, in the daemon's record.
    package var registrations = 0
    /// Registrations for which Apple's record is known to differ.
    package var registrationsDrifting = 0
    /// Calls to Apple whose outcome is unknown.
    package var registrationCallsOpen = 0
    /// By state; every state is present.
    package var rolls: [String: Int] = [:]
    /// The open rolls that have waited longest, at most 10.
    package var longestWaitingRolls: [RollDocument] = []
    /// The next 13 weeks.
    package var endingByWeek: [Week] = []
    package var awaitingDestruction = 0
    /// Soonest first, at most 10.
    package var destructions: [Destruction] = []
    /// Most urgent first, at most one for each code.
    package var findings: [Finding] = []
    /// By name.
    package var webhooks: [Webhook] = []

    package init(version: String, environment: Environment, at time: Timestamp, startedAt: Timestamp) {
        (self.version, self.environment, self.time, self.startedAt) = (version, environment, time, startedAt)
    }
}

/// `GET /v1/health`, on both sockets: 200 where ready, otherwise 503.
package struct HealthDocument: Codable, Hashable, Sendable {
    package var live = true
    package let ready: Bool
    /// Why the daemon is not ready; empty where it is.
    package let reasons: [String]
    /// Faults of the daemon itself, whether it is ready or not; absent where there are none.
    package let findings: [StatusDocument.Finding]?

    /// Ready unless there is a reason.
    package init(reasons: [String], findings: [StatusDocument.Finding] = []) {
        (self.reasons, ready, self.findings) = (reasons, reasons.isEmpty, findings.isEmpty ? nil : findings)
    }
}
