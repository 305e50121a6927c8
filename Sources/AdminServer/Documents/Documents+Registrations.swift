import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension RegistrationDocument {
    init(_ view: RegistrationView) {
        let (registration, desired) = (view.registration, view.registration.desired)
        let known = registration.known
        let wantedHash = desired.encryptTo.appleHash
        // What Apple answered, where that was asked for; without a registration there, nothing is current.
        let apple = view.source == .apple ? known?.details : nil
        let hash = apple?.encryptToHash.uppercased() ?? wantedHash
        let domainNames =
            view.source == .apple ? (apple?.domainNames ?? []).sorted() : desired.domainNames.map(\.rawValue).sorted()
        self.init(
            partnerInternalMerchantIdentifier: registration.partnerInternalMerchantIdentifier.rawValue,
            state: view.openCall != nil ? "unsettled" : domainNames.isEmpty ? "unregistered" : "registered",
            source: view.source.rawValue,
            partnerMerchantName: apple?.partnerMerchantName ?? desired.partnerMerchantName,
            domainNames: domainNames, encryptTo: hash == wantedHash ? desired.encryptTo.rawValue : nil,
            encryptToHash: hash, merchantUrl: desired.merchantUrl,
            merchantIdentifier: registration.merchantIdentifier?.rawValue, learnedAt: known?.learnedAt.rfc3339,
            ageSeconds: known.map {
                Int(max(0, view.at.millisecondsSince1970 - $0.learnedAt.millisecondsSince1970) / 1000)
            }, drift: registration.drift.map(DriftDocument.init), createdAt: registration.createdAt.rfc3339,
            changedAt: registration.changedAt.rfc3339, warnings: view.warnings)
    }
}

extension DriftDocument {
    init(_ drift: RegistrationDrift) {
        let kind = drift.kind.rawValue
        switch drift {
        case .missingDomain(let name): self.init(kind: kind, found: nil, expected: name.rawValue)
        case .extraDomain(let name): self.init(kind: kind, found: name, expected: nil)
        case .otherName(let found, let expected), .otherEncryptTo(let found, let expected):
            self.init(kind: kind, found: found, expected: expected)
        case .gone: self.init(kind: kind, found: nil, expected: nil)
        }
    }
}

extension WithdrawalDocument {
    init(_ withdrawal: RegistrationWithdrawal) {
        self.init(
            dryRun: withdrawal.dryRun, domainNames: withdrawal.domainNames.map(\.rawValue),
            warnings: withdrawal.warnings, registration: RegistrationDocument(withdrawal.view))
    }
}

extension SyncDocument {
    init(_ report: SyncReport) {
        self.init(
            repair: report.repair, compared: report.compared,
            findings: report.findings.map {
                Finding(
                    partnerInternalMerchantIdentifier: $0.partnerInternalMerchantIdentifier.rawValue,
                    drift: $0.drift.map(DriftDocument.init), mended: $0.repaired,
                    remaining: $0.remaining.map(DriftDocument.init), failure: $0.failure.map(FailureDocument.init))
            }, halted: report.halted.map(FailureDocument.init), nextCursor: report.next?.rawValue)
    }
}

extension FailureDocument {
    init(_ error: MerchantError) {
        let detail = error.code == .internalError ? "internal error, see the daemon's log" : error.detail
        self.init(
            code: error.code.rawValue, detail: detail,
            retryAfter: error.retryAfter ?? ProblemTable.retryAfter(error.code))
    }
}

extension DomainFileDocument {
    init(_ file: DomainFile) {
        self.init(sha256: file.sha256, size: file.bytes.count, storedAt: file.storedAt.rfc3339)
    }
}

extension DomainCheckDocument {
    init(_ report: DomainCheckReport) {
        self.init(
            domainName: report.domain.rawValue, fine: report.hasPassed, address: report.address,
            findings: report.hasPassed ? [] : [Finding(kind: report.finding.code, detail: report.finding.detail)])
    }
}
