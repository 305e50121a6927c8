package import Vocabulary

extension Paths {
    package static let status = "/v1/status"
}

/// The response of `GET /v1/status`.
package struct StatusDocument: Codable, Hashable, Sendable {
    /// A condition that an operator should know or act on. There is at most one finding for each code.
    package struct Finding: Codable, Hashable, Sendable {
        /// One subject of the finding, such as a merchant or a key pair.
        package struct Item: Codable, Hashable, Sendable {
            package let severity: String
            package let detail: String
            package var merchantIdentifier: MerchantIdentifier?
            package var publicKeyHash: PublicKeyHash?

            package init(severity: String, detail: String) { (self.severity, self.detail) = (severity, detail) }
        }

        /// `notice`, `warning` or `critical`: the severity of the most urgent subject.
        package let severity: String
        package let code: String
        package let detail: String
        /// The number of subjects, such as merchants or key pairs.
        package var count = 1
        /// The number of subjects by severity. Every severity is present.
        package var countBySeverity: [String: Int] = [:]
        /// At most 5 subjects, the most urgent ones first; absent if `detail` says everything.
        package var mostUrgent: [Item]?

        package init(severity: String, code: String, detail: String) {
            (self.severity, self.code, self.detail) = (severity, code, detail)
        }
    }

    /// The state of a configured webhook.
    package struct Webhook: Codable, Hashable, Sendable {
        package let name: String
        /// Events that wait for delivery, including events whose delivery has failed before. Parked events are not
        /// counted.
        package var undelivered = 0
        /// Events whose delivery failed for 24 hours. The daemon sends a parked event again only if an admin requests
        /// it.
        package var parked = 0
        /// When the oldest event that waits for delivery occurred.
        package var oldestUndelivered: Timestamp?
        package var lastDelivered: Timestamp?
        package var lastFailed: Timestamp?
        /// Why the delivery at `lastFailed` failed.
        package var lastFailure: String?

        package init(_ name: String) { self.name = name }
    }

    /// One of the next 13 weeks, with the number of active key pairs that expire in the week.
    package struct Week: Codable, Hashable, Sendable {
        /// When the week begins. The first week begins at the time of the request.
        package let begins: Timestamp
        /// The number of active key pairs whose last certificate expires in the week.
        package let ending: Int

        package init(begins: Timestamp, ending: Int) { (self.begins, self.ending) = (begins, ending) }
    }

    /// A revoked key pair whose private key will be erased. Until the private key is erased, `key restore` undoes the
    /// revocation.
    package struct Destruction: Codable, Hashable, Sendable {
        package let publicKeyHash: PublicKeyHash
        package let merchantIdentifier: MerchantIdentifier
        /// When the private key will be erased.
        package let destroyAfter: Timestamp

        package init(_ hash: PublicKeyHash, of merchant: MerchantIdentifier, after time: Timestamp) {
            (publicKeyHash, merchantIdentifier, destroyAfter) = (hash, merchant, time)
        }
    }

    package let version: String
    package let environment: Environment
    /// The daemon's time at the request.
    package let time: Timestamp
    package let startedAt: Timestamp
    /// The beginning of every link to the portal; absent if the daemon has no portal.
    package var portalURL: String?
    package var merchants = 0
    /// Merchants that have fewer active payment processing key pairs than their target.
    package var merchantsBelowTarget = 0
    /// The number of key pairs by state. Every state is present.
    package var keyPairs: [String: Int] = [:]
    package var certificates = 0
    package var auditRecords = 0
    /// nil if the audit has no record yet.
    package var auditHead: AuditHeadDocument?
    package var backups: BackupCoverageDocument?
    /// Registrations that should exist at Apple: those whose desired state has at least one domain.
    package var registrations = 0
    /// Registrations whose desired state differs from Apple's record, as the daemon last read it.
    package var registrationsDrifting = 0
    /// Calls to Apple whose outcome is unknown, because Apple's response was not received.
    package var registrationCallsOpen = 0
    /// The number of rolls by state. Every state is present.
    package var rolls: [String: Int] = [:]
    /// The open rolls that have been in their state for the longest time, at most 10.
    package var longestWaitingRolls: [RollDocument] = []
    /// How many active key pairs expire in each of the next 13 weeks.
    package var endingByWeek: [Week] = []
    /// The number of revoked key pairs whose private key will be erased.
    package var awaitingDestruction = 0
    /// The revoked key pairs whose private keys will be erased first, at most 10.
    package var destructions: [Destruction] = []
    /// The conditions that an operator should know or act on, the most urgent first.
    package var findings: [Finding] = []
    /// Sorted by name.
    package var webhooks: [Webhook] = []

    package init(version: String, environment: Environment, at time: Timestamp, startedAt: Timestamp) {
        (self.version, self.environment, self.time, self.startedAt) = (version, environment, time, startedAt)
    }
}

/// The response of `GET /v1/health` on every socket. (The portal's response has only a status.) The HTTP status is 200
/// if the daemon is ready, and 503 otherwise.
package struct HealthDocument: Codable, Hashable, Sendable {
    /// Always true: a daemon that responds is alive.
    package var live = true
    package let ready: Bool
    /// Why the daemon is not ready; empty if it is ready.
    package let reasons: [String]
    /// Problems of the daemon itself, which can exist even if the daemon is ready; absent if there are none.
    package let findings: [StatusDocument.Finding]?

    /// - Parameter reasons: why the daemon is not ready. If empty, the daemon is ready.
    package init(reasons: [String], findings: [StatusDocument.Finding] = []) {
        (self.reasons, ready, self.findings) = (reasons, reasons.isEmpty, findings.isEmpty ? nil : findings)
    }
}
