/// `GET /v1/status`.
package struct StatusDocument: Codable, Hashable, Sendable {
    /// Something that an operator should know or act on; there is at most one of each code.
    package struct Finding: Codable, Hashable, Sendable {
        /// A merchant, a key pair or another subject of the finding.
        package struct Item: Codable, Hashable, Sendable {
            package let severity: String
            package let detail: String
            package let merchantIdentifier: String?
            package let publicKeyHash: String?

            package init(severity: String, detail: String, merchantIdentifier: String?, publicKeyHash: String?) {
                self.severity = severity
                self.detail = detail
                self.merchantIdentifier = merchantIdentifier
                self.publicKeyHash = publicKeyHash
            }
        }

        /// `notice`, `warning` or `critical`: that of the most urgent subject.
        package let severity: String
        package let code: String
        package let detail: String
        /// How many merchants, key pairs or other subjects it has.
        package let count: Int
        /// The same by severity; every severity is present.
        package let countBySeverity: [String: Int]
        /// At most 5, most urgent first; absent where `detail` says all.
        package let mostUrgent: [Item]?

        package init(
            severity: String, code: String, detail: String, count: Int, countBySeverity: [String: Int],
            mostUrgent: [Item]?
        ) {
            self.severity = severity
            self.code = code
            self.detail = detail
            self.count = count
            self.countBySeverity = countBySeverity
            self.mostUrgent = mostUrgent
        }
    }

    /// A webhook of the settings.
    package struct Webhook: Codable, Hashable, Sendable {
        package let name: String
        /// Events on their way, those that fail included.
        package let undelivered: Int
        /// Events given up after 24 hours of failures, until they are sent again.
        package let parked: Int
        /// When the oldest undelivered event occurred.
        package let oldestUndelivered: String?
        package let lastDelivered: String?
        package let lastFailed: String?
        package let lastFailure: String?

        package init(
            name: String, undelivered: Int, parked: Int, oldestUndelivered: String?, lastDelivered: String?,
            lastFailed: String?, lastFailure: String?
        ) {
            self.name = name
            self.undelivered = undelivered
            self.parked = parked
            self.oldestUndelivered = oldestUndelivered
            self.lastDelivered = lastDelivered
            self.lastFailed = lastFailed
            self.lastFailure = lastFailure
        }
    }

    /// How many active key pairs' certificates end in the week that begins then.
    package struct Week: Codable, Hashable, Sendable {
        package let begins: String
        package let ending: Int

        package init(begins: String, ending: Int) {
            self.begins = begins
            self.ending = ending
        }
    }

    /// A revoked key pair whose private key is to be destroyed; until then restore takes it back.
    package struct Destruction: Codable, Hashable, Sendable {
        package let publicKeyHash: String
        package let merchantIdentifier: String
        package let destroyAfter: String

        package init(publicKeyHash: String, merchantIdentifier: String, destroyAfter: String) {
            self.publicKeyHash = publicKeyHash
            self.merchantIdentifier = merchantIdentifier
            self.destroyAfter = destroyAfter
        }
    }

    package let version: String
    package let environment: String
    package let time: String
    package let startedAt: String
    package let merchants: Int
    package let merchantsBelowTarget: Int
    /// By state name; every state is there.
    package let keyPairs: [String: Int]
    package let certificates: Int
    package let auditRecords: Int
    /// nil while there is no record.
    package let auditHead: AuditHeadDocument?
    /// nil from a daemon that keeps none.
    package let backups: BackupCoverageDocument?
    /// Merchants that have a domain registered with Apple, as the platform wants it.
    package let registrations: Int
    /// Those of which Apple's record is known to differ.
    package let registrationsDrifting: Int
    /// Calls to Apple whose outcome nobody knows yet.
    package let registrationCallsOpen: Int
    /// By state; every state is there.
    package let rolls: [String: Int]
    /// The open ones that wait longest, at most 10.
    package let longestWaitingRolls: [RollDocument]
    /// From now on, 13 weeks.
    package let endingByWeek: [Week]
    package let awaitingDestruction: Int
    /// Soonest first, at most 10.
    package let destructions: [Destruction]
    /// Most urgent first, at most one of each code.
    package let findings: [Finding]
    /// By name.
    package let webhooks: [Webhook]

    package init(
        version: String, environment: String, time: String, startedAt: String, merchants: Int,
        merchantsBelowTarget: Int, keyPairs: [String: Int], certificates: Int, auditRecords: Int,
        auditHead: AuditHeadDocument?, backups: BackupCoverageDocument?, registrations: Int = 0,
        registrationsDrifting: Int = 0, registrationCallsOpen: Int = 0, findings: [Finding],
        rolls: [String: Int] = [:], longestWaitingRolls: [RollDocument] = [], endingByWeek: [Week] = [],
        awaitingDestruction: Int = 0, destructions: [Destruction] = [], webhooks: [Webhook] = []
    ) {
        self.version = version
        self.environment = environment
        self.time = time
        self.startedAt = startedAt
        self.merchants = merchants
        self.merchantsBelowTarget = merchantsBelowTarget
        self.keyPairs = keyPairs
        self.certificates = certificates
        self.auditRecords = auditRecords
        self.auditHead = auditHead
        self.backups = backups
        self.registrations = registrations
        self.registrationsDrifting = registrationsDrifting
        self.registrationCallsOpen = registrationCallsOpen
        self.findings = findings
        self.rolls = rolls
        self.longestWaitingRolls = longestWaitingRolls
        self.endingByWeek = endingByWeek
        self.awaitingDestruction = awaitingDestruction
        self.destructions = destructions
        self.webhooks = webhooks
    }
}

/// `GET /v1/health`, on both sockets: 200 where ready, 503 where not.
package struct HealthDocument: Codable, Hashable, Sendable {
    package let live: Bool
    package let ready: Bool
    /// Why not ready; empty where ready.
    package let reasons: [String]
    /// What is wrong with the daemon itself, ready or not; absent where nothing is.
    package let findings: [StatusDocument.Finding]?

    package init(live: Bool, ready: Bool, reasons: [String], findings: [StatusDocument.Finding]? = nil) {
        self.live = live
        self.ready = ready
        self.reasons = reasons
        self.findings = findings
    }
}

/// One record of `GET /v1/audit`.
package struct AuditRecordDocument: Codable, Hashable, Sendable {
    package struct CallerDocument: Codable, Hashable, Sendable {
        package let uid: UInt32
        package let gid: UInt32
        package let pid: Int32
        package let program: String

        package init(uid: UInt32, gid: UInt32, pid: Int32, program: String) {
            self.uid = uid
            self.gid = gid
            self.pid = pid
            self.program = program
        }
    }

    package let sequence: Int
    package let at: String
    package let action: String
    package let caller: CallerDocument
    package let merchantIdentifier: String?
    package let publicKeyHash: String?
    package let before: String?
    package let after: String?
    package let reason: String?
    package let requestId: String?
    /// Lower-case hexadecimal; the next record holds it as its `previousHash`.
    package let hash: String
    package let previousHash: String

    package init(
        sequence: Int, at: String, action: String, caller: CallerDocument, merchantIdentifier: String?,
        publicKeyHash: String?, before: String?, after: String?, reason: String?, requestId: String?, hash: String,
        previousHash: String
    ) {
        self.sequence = sequence
        self.at = at
        self.action = action
        self.caller = caller
        self.merchantIdentifier = merchantIdentifier
        self.publicKeyHash = publicKeyHash
        self.before = before
        self.after = after
        self.reason = reason
        self.requestId = requestId
        self.hash = hash
        self.previousHash = previousHash
    }
}
