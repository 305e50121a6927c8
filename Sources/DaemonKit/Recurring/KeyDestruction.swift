import Logging
import MerchantCore
import MerchantOperations

/// Destroys revoked private keys whose waiting period has passed.
struct KeyDestruction: RecurringTask {
    let operations: KeyTransitionOperations
    let caller: Caller
    /// On SQLite, erases destroyed keys from the database file, if an earlier erasure failed or was interrupted.
    let eraseIfDue: @Sendable () async throws -> Void
    let logger: Logger

    func run() async {
        do {
            let count = try await operations.destroyDueKeyPairs(as: caller)
            if count > 0 { logger.notice("private keys destroyed", metadata: ["count": "\(count)"]) }
        } catch {
            logger.error("destruction of due private keys failed", metadata: ["error": "\(error)"])
        }
        do { try await eraseIfDue() } catch is CancellationError {
        } catch {
            logger.error("erasure of destroyed private keys failed", metadata: ["error": "\(error)"])
        }
    }
}
