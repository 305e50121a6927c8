import Logging
import MerchantCore
import MerchantOperations

/// Records in the audit the requests with a `validationURL` that is not Apple's, as far as they were only counted.
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
