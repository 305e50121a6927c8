import MerchantCore
import MerchantOperations
import ServerKit
import Vocabulary
import WireAPI

extension RegistrationDocument {
    init(_ view: RegistrationView) {
        let (registration, desired) = (view.registration, view.registration.desired)
        let desiredHash = desired.encryptTo.appleHash
        // If the daemon has read Apple's record for this request, the document shows Apple's values. If Apple then has no
        // record of the merchant, the document shows the desired name and no domains.
        let appleDetails = view.source == .apple ? registration.appleRecord?.details : nil
        let names =
            view.source == .apple
            ? (appleDetails?.domainNames ?? []).sorted() : desired.domainNames.map(\.rawValue).sorted()
        let encryptToHash = appleDetails?.encryptToHash.uppercased() ?? desiredHash
        // While a call to Apple is open, its outcome is unknown.
        let state = view.openCall != nil ? "unsettled" : names.isEmpty ? "unregistered" : "registered"
        self.init(
            registration.partnerInternalMerchantIdentifier,
            name: appleDetails?.partnerMerchantName ?? desired.partnerMerchantName, encryptToHash: encryptToHash,
            state: state,
            source: view.source.rawValue, createdAt: registration.createdAt, changedAt: registration.changedAt)
        domainNames = names
        // Apple reports only a hash of the identifier. If it is not the hash of the desired identifier, the daemon does
        // not know Apple's identifier.
        encryptTo = encryptToHash == desiredHash ? desired.encryptTo : nil
        merchantUrl = desired.merchantUrl
        merchantIdentifier = registration.merchantIdentifier
        learnedAt = registration.appleRecord?.learnedAt
        ageSeconds = learnedAt.map {
            Int(max(0, view.at.millisecondsSince1970 - $0.millisecondsSince1970) / 1000)
        }
        drift = registration.drift.map(DriftDocument.init)
        warnings = view.warnings
    }
}

extension DriftDocument {
    init(_ drift: RegistrationDrift) {
        let kind = drift.kind.rawValue
        switch drift {
        case .missingDomain(let name): self.init(kind, expected: name.rawValue)
        case .extraDomain(let name): self.init(kind, found: name)
        case .otherName(let found, let expected), .otherEncryptTo(let found, let expected):
            self.init(kind, found: found, expected: expected)
        case .gone: self.init(kind)
        }
    }
}

extension UnregistrationDocument {
    init(_ result: UnregistrationResult) {
        self.init(RegistrationDocument(result.view))
        dryRun = result.dryRun
        domainNames = result.domainNames.map(\.rawValue)
        warnings = result.warnings
    }
}

extension SyncDocument {
    init(_ report: SyncReport) {
        self.init()
        repair = report.repair
        compared = report.compared
        findings = report.findings.map(Finding.init)
        halted = report.halted.map(FailureDocument.init)
        nextCursor = report.next
    }
}

extension SyncDocument.Finding {
    init(_ finding: SyncFinding) {
        self.init(finding.partnerInternalMerchantIdentifier)
        drift = finding.drift.map(DriftDocument.init)
        repaired = finding.repaired
        remaining = finding.remaining.map(DriftDocument.init)
        failure = finding.failure.map(FailureDocument.init)
    }
}

extension FailureDocument {
    init(_ error: MerchantError) {
        // As in problem documents, the detail of an internal error appears only in the log.
        let detail = error.code == .internalError ? "internal error, see the daemon's log" : error.detail
        self.init(
            code: error.code.rawValue, detail: detail,
            retryAfter: error.retryAfter ?? ProblemTable.retryAfter(error.code))
    }
}

extension DomainFileDocument {
    init(_ file: DomainFile) { self.init(sha256: file.sha256, size: file.bytes.count, storedAt: file.storedAt) }
}

extension DomainCheckDocument {
    init(_ report: DomainCheckReport) {
        self.init(
            report.domain, address: report.address,
            findings: report.hasPassed ? [] : [Finding(kind: report.finding.code, detail: report.finding.detail)])
    }
}
