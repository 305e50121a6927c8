import Logging
import MerchantCore
import MerchantOperations
import ServiceLifecycle

/// Brings what was refused to decryptors into the audit every few seconds; while it goes on and on, every minute, so that
/// nobody fills the audit by asking for what is not theirs. A crash loses what came since.
struct RefusalRecording: Service {
    private static let shortest = Duration.seconds(3)
    private static let longest = Duration.seconds(60)

    let operations: RefusalAudit
    let caller: Caller
    let logger: Logger

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var pause = Self.shortest
            while !Task.isCancelled {
                try await Task.sleep(for: pause)
                pause = await record() ? min(pause * 2, Self.longest) : Self.shortest
            }
        }
        _ = await record()
    }

    /// - Returns: whether there was anything to record.
    private func record() async -> Bool {
        do { return try await operations.recordRefusals(as: caller) > 0 } catch {
            logger.error("refused requests could not be recorded", metadata: ["error": "\(error)"])
            return true
        }
    }
}
