import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

// From what the use cases return to what travels: one initializer a document.

extension MerchantDocument {
    init(_ view: MerchantView, pendingKeyPairs: [KeyView]? = nil) {
        let merchant = view.merchant
        self.init(
            merchantIdentifier: merchant.identifier.rawValue,
            merchantIdentifierHash: MerchantIdentifierHash(of: merchant.identifier).hex, name: merchant.name,
            targetActiveKeyPairs: merchant.targetActiveKeyPairs, activeKeyPairs: view.activeKeyPairs,
            createdAt: merchant.createdAt.rfc3339, newestKeyBackedUp: view.isNewestKeyPairBackedUp,
            pendingKeyPairs: pendingKeyPairs?.map(KeyDocument.init))
    }
}

extension KeyDocument {
    init(_ view: KeyView) {
        let keyPair = view.keyPair
        self.init(
            publicKeyHash: keyPair.publicKeyHash.base64, merchantIdentifier: keyPair.merchantIdentifier.rawValue,
            algorithm: keyPair.algorithm.rawValue, purpose: keyPair.purpose.rawValue, state: keyPair.state.rawValue,
            origin: keyPair.origin.rawValue, createdAt: keyPair.createdAt.rfc3339,
            stateSince: keyPair.stateSince.rfc3339, notBefore: view.answering?.notBefore.rfc3339,
            notAfter: view.answering?.notAfter.rfc3339, revocationReason: keyPair.revocationReason,
            destroyAfter: keyPair.destroyAfter?.rfc3339, exportedAt: keyPair.exportedAt?.rfc3339,
            certificates: view.certificates.sorted { ($0.notBefore, $0.storedAt) > ($1.notBefore, $1.storedAt) }
                .map(CertificateDocument.init),
            csr: view.certificateSigningRequest.map { PEM.encode($0, label: "CERTIFICATE REQUEST") },
            use: view.use.map(KeyUseDocument.init))
    }
}

extension CertificateDocument {
    init(_ certificate: StoredCertificate) {
        self.init(
            fingerprint: Hex.encode(certificate.fingerprint), serialNumber: certificate.serialNumber,
            subject: certificate.subject, issuer: certificate.issuer, notBefore: certificate.notBefore.rfc3339,
            notAfter: certificate.notAfter.rfc3339, issuerVerified: certificate.issuerVerified,
            storedAt: certificate.storedAt.rfc3339, certificate: PEM.encode(certificate.der, label: "CERTIFICATE"))
    }
}

extension KeyTransitionDocument {
    init(_ transitions: KeyTransitions) {
        self.init(
            dryRun: transitions.dryRun,
            transitions: transitions.transitions.map {
                Transition(publicKeyHash: $0.publicKeyHash.base64, from: $0.from.rawValue, to: $0.to.rawValue)
            }, warnings: transitions.warnings, key: KeyDocument(transitions.key))
    }
}

extension StatusDocument {
    init(_ status: Status, version: String, startedAt: Timestamp) {
        self.init(
            version: version, environment: status.environment.rawValue, time: status.at.rfc3339,
            startedAt: startedAt.rfc3339, merchants: status.counts.merchants,
            merchantsBelowTarget: status.counts.merchantsBelowTarget,
            keyPairs: Dictionary(
                uniqueKeysWithValues: KeyState.allCases.map { ($0.rawValue, status.counts.keyPairs[$0] ?? 0) }),
            certificates: status.counts.certificates, auditRecords: status.counts.auditRecords,
            auditHead: status.counts.auditHead.map(AuditHeadDocument.init),
            backups: BackupCoverageDocument(
                lastVerified: status.backups.lastVerified?.rfc3339, file: status.backups.lastVerifiedPath,
                merchantsWithoutBackup: status.backups.merchantsWithoutBackup,
                withoutBackup: status.backups.withoutBackup.map(\.rawValue)),
            registrations: status.counts.registrations, registrationsDrifting: status.counts.registrationsDrifting,
            registrationCallsOpen: status.counts.registrationCallsOpen,
            findings: status.findings.map(\.document),
            rolls: Dictionary(
                uniqueKeysWithValues: RollState.allCases.map { ($0.rawValue, status.rolls[$0] ?? 0) }),
            longestWaitingRolls: status.longestWaitingRolls.map { RollDocument($0) },
            endingByWeek: status.endingByWeek.map { Week(begins: $0.begins.rfc3339, ending: $0.ending) },
            awaitingDestruction: status.awaitingDestruction,
            destructions: status.destructions.compactMap { keyPair in
                keyPair.destroyAfter.map {
                    Destruction(
                        publicKeyHash: keyPair.publicKeyHash.base64,
                        merchantIdentifier: keyPair.merchantIdentifier.rawValue, destroyAfter: $0.rfc3339)
                }
            },
            webhooks: status.webhooks.map(Webhook.init))
    }
}

extension StatusDocument.Webhook {
    init(_ state: WebhookState) {
        self.init(
            name: state.name, undelivered: state.undelivered, parked: state.parked,
            oldestUndelivered: state.oldestUndelivered?.rfc3339, lastDelivered: state.lastDelivered?.rfc3339,
            lastFailed: state.lastFailed?.rfc3339, lastFailure: state.lastFailure)
    }
}

extension AuditHeadDocument {
    init(_ head: AuditHead) { self.init(sequence: head.sequence, hash: Hex.encode(head.hash)) }
}

extension AuditVerificationDocument {
    init(_ verification: AuditVerification) {
        self.init(
            examined: verification.examined, breakCount: verification.breakCount,
            breaks: verification.breaks.map {
                AuditBreakDocument(kind: $0.kind.rawValue, sequence: $0.sequence, detail: $0.detail)
            }, head: verification.head.map(AuditHeadDocument.init), nextCursor: verification.next.map(String.init))
    }
}

extension AuditRecordDocument {
    init(_ record: AuditRecord) {
        let entry = record.entry
        self.init(
            sequence: record.sequence, at: entry.at.rfc3339, action: entry.action.rawValue,
            caller: CallerDocument(
                uid: entry.caller.uid, gid: entry.caller.gid, pid: entry.caller.pid, program: entry.caller.program),
            merchantIdentifier: entry.merchantIdentifier?.rawValue, publicKeyHash: entry.publicKeyHash?.base64,
            before: entry.before, after: entry.after, reason: entry.reason, requestId: entry.requestId,
            hash: Hex.encode(record.hash), previousHash: Hex.encode(record.previousHash))
    }
}
