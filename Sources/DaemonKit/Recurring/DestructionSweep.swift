import Logging
import MerchantCore
import MerchantOperations
import ServiceLifecycle

/// Destroys revoked private keys whose waiting period is over, once a minute.
struct DestructionSweep: Service {
    static let interval = Duration.seconds(60)

    let operations: KeyTransitionOperations
    let caller: Caller
    /// Finishes an erasure that failed or was cut short.
    let eraseIfDue: @Sendable () async throws -> Void
    let logger: Logger

    func run() async throws {
        // A daemon that stops cancels the wait; what is due then is due at the next start.
        try? await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
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
                try await Task.sleep(for: Self.interval)
            }
        }
    }
}
