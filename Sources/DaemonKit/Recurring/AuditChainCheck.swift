import Logging
import MerchantCore
import MerchantOperations

/// Verifies the audit chain, while the daemon continues to read and write the database.
struct AuditChainCheck {
    /// The pause after each part of the audit, so that requests do not have to wait for the processor.
    private static let pauseBetweenParts = Duration.milliseconds(20)

    let operations: AuditOperations
    let activeFindings: ActiveFindings
    let logger: Logger

    /// - Returns: whether the whole chain was examined. `status` reports the first break of the chain.
    func run() async -> Bool {
        do {
            var next: Int? = 1
            while let sequence = next {
                // `verifyAudit` makes `status` report the first break of the chain, so its other results are not needed
                // here.
                next = try await operations.verifyAudit(from: sequence).next
                try await Task.sleep(for: Self.pauseBetweenParts)
            }
            return true
        } catch {
            report(error, checking: "the audit chain")
            return false
        }
    }

    /// Reports that a part of the database could not be checked.
    func report(_ error: any Error, checking part: String) {
        guard !(error is CancellationError) else { return }
        logger.error("the database could not be checked", metadata: ["part": "\(part)", "error": "\(error)"])
        // Damage that this check or an earlier one found is more important than a check that could not be finished.
        guard activeFindings.severity(of: .storeDamaged) != .critical else { return }
        activeFindings.set(.storeDamaged, .warning, "\(part) could not be checked: \(Diagnosis.detail(of: error))")
    }
}
