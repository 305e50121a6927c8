import Logging
import MerchantCore
import MerchantOperations

/// Stores the merchant tokens of decrypted payments. A crash loses the payments since the last round.
struct MerchantTokenPaymentStorage: RecurringTask {
    let operations: MerchantTokenPaymentRecording
    let logger: Logger

    func run() async { await store() }

    func finish() async { await store() }

    /// If the payments cannot be stored, they stay in memory for the next round.
    private func store() async {
        do { try await operations.storePayments() } catch {
            logger.error("merchant tokens of payments could not be stored", metadata: ["error": "\(error)"])
        }
    }
}
