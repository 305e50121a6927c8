import Logging
import MerchantCore
import MerchantOperations

/// Writes audit records of the requests that were refused because their `validationURL` is not Apple's. Each record
/// contains the number of a caller's requests since the last record, so that no caller can flood the audit.
struct ValidationURLRecording: RecurringTask {
    let audit: ValidationURLAudit
    let caller: Caller
    let logger: Logger

    func run() async { await record(isLast: false) }

    func finish() async { await record(isLast: true) }

    private func record(isLast: Bool) async {
        do { try await audit.recordRefusals(as: caller, isLast: isLast) } catch {
            logger.error("refused validation URLs could not be recorded", metadata: ["error": "\(error)"])
        }
    }
}
