import MerchantCore
import MerchantOperations
import RESTKit
import ServerKit
import Vocabulary
import WireAPI

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
