import MerchantCore
import MerchantOperations
import RESTKit
import Vocabulary
import WireAPI

extension StatusDocument {
    init(_ status: Status, version: String, startedAt: Timestamp) {
        self.init(version: version, environment: status.environment, at: status.at, startedAt: startedAt)
        let counts = status.counts
        merchants = counts.merchants
        merchantsBelowTarget = counts.merchantsBelowTarget
        keyPairs = Dictionary(
            uniqueKeysWithValues: KeyState.allCases.map { ($0.rawValue, counts.keyPairs[$0] ?? 0) })
        certificates = counts.certificates
        auditRecords = counts.auditRecords
        auditHead = counts.auditHead.map(AuditHeadDocument.init)
        backups = BackupCoverageDocument(status.backups)
        registrations = counts.registrations
        registrationsDrifting = counts.registrationsDrifting
        registrationCallsOpen = counts.registrationCallsOpen
        rolls = Dictionary(uniqueKeysWithValues: RollState.allCases.map { ($0.rawValue, status.rolls[$0] ?? 0) })
        longestWaitingRolls = status.longestWaitingRolls.map { RollDocument($0) }
        endingByWeek = status.expiringByWeek.map { Week(begins: $0.begins, ending: $0.expiring) }
        awaitingDestruction = status.awaitingDestruction
        destructions = status.destructions.compactMap { keyPair in
            keyPair.destroyAfter.map {
                Destruction(keyPair.publicKeyHash, of: keyPair.merchantIdentifier, after: $0)
            }
        }
        findings = status.findings.map(\.document)
        webhooks = status.webhooks.map(Webhook.init)
    }
}

extension StatusDocument.Webhook {
    init(_ state: WebhookState) {
        self.init(state.name)
        undelivered = state.undelivered
        parked = state.parked
        oldestUndelivered = state.oldestUndelivered
        lastDelivered = state.lastDelivered
        lastFailed = state.lastFailed
        lastFailure = state.lastFailure
    }
}
