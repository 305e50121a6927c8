package import MerchantCore
import Vocabulary
package import WireAPI

extension DomainFileDocument {
    package init(_ file: DomainFile) { self.init(sha256: file.sha256, size: file.bytes.count, storedAt: file.storedAt) }
}

extension DomainCheckDocument {
    package init(_ report: DomainCheckReport) {
        self.init(
            report.domain, address: report.address,
            findings: report.hasPassed ? [] : [Finding(kind: report.finding.code, detail: report.finding.detail)])
    }
}
