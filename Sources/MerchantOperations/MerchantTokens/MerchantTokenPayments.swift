package import MerchantCore
import Synchronization
package import Vocabulary

/// Counts, in memory, the payments of merchant tokens until they are stored.
///
/// A payment only changes a counter in memory, because a write to the database would delay the response.
/// ``MerchantTokenPaymentRecording`` stores the counters every few seconds.
package final class MerchantTokenPayments: Sendable {
    /// The largest number of merchant tokens whose payments are kept in memory. Payments of further tokens are not
    /// recorded.
    package static let capacity = 50_000

    struct Key: Hashable, Sendable {
        let token: MerchantTokenIdentifier
        let merchant: MerchantIdentifier
    }

    private let isEnabled: Bool
    private let metrics: MerchantTokenMetrics
    private let payments = Mutex([Key: Occurrences]())

    /// - Parameter isEnabled: the setting `merchant-tokens.record-payments`.
    package init(isEnabled: Bool, metrics: MerchantTokenMetrics) {
        self.isEnabled = isEnabled
        self.metrics = metrics
    }

    /// Counts a payment.
    ///
    /// - Parameter text: the `merchantTokenIdentifier` of a decrypted payment token; nil if it has none.
    package func record(_ text: String?, of merchant: MerchantIdentifier, at now: Timestamp) {
        guard let text, isEnabled, let token = MerchantTokenIdentifier(text: text) else { return }
        add(Occurrences(count: 1, first: now, last: now), for: Key(token: token, merchant: merchant))
    }

    /// Adds payments: new ones, or collected ones that could not be stored.
    func add(_ occurrences: Occurrences, for key: Key) {
        let isKept = payments.withLock { payments in
            if payments[key] != nil {
                payments[key]?.add(occurrences)
            } else if payments.count < Self.capacity {
                payments[key] = occurrences
            } else {
                return false
            }
            return true
        }
        if !isKept { metrics.countDroppedPayment() }
    }

    /// Removes all payments and returns them, so that the caller can store them.
    func collect() -> [Key: Occurrences] {
        payments.withLock { payments in
            defer { payments = [:] }
            return payments
        }
    }
}

/// Stores the merchant tokens of decrypted payments.
package struct MerchantTokenPaymentRecording: Sendable {
    package typealias Records = Transactions<Void, any MerchantReading & MerchantTokenWriting>

    /// The largest number of merchant tokens that one transaction stores, so that other writes need not wait long.
    private static let tokensPerTransaction = 1_000

    private let records: Records
    private let payments: MerchantTokenPayments

    package init(records: Records, payments: MerchantTokenPayments) {
        self.records = records
        self.payments = payments
    }

    /// Stores the payments that were counted since the last call.
    ///
    /// - Returns: the number of merchant tokens with payments.
    /// - Throws: an error of the store; the next call then stores the remaining payments.
    @discardableResult
    package func storePayments() async throws -> Int {
        let collected = payments.collect().sorted { $0.key.token < $1.key.token }
        var rest = collected[...]
        while !rest.isEmpty {
            let batch = rest.prefix(Self.tokensPerTransaction).map {
                MerchantTokenPayment(
                    identifier: $0.key.token, merchantIdentifier: $0.key.merchant, times: $0.value)
            }
            do {
                try await records.write { transaction in
                    // `recordPayments` throws for a merchant that is not stored, and no payment of the batch would be
                    // stored then. So leave out such payments.
                    var known: [MerchantIdentifier: Bool] = [:]
                    try transaction.recordPayments(
                        batch.filter { payment in
                            let merchant = payment.merchantIdentifier
                            if let isKnown = known[merchant] { return isKnown }
                            let isKnown = try transaction.merchant(merchant) != nil
                            known[merchant] = isKnown
                            return isKnown
                        })
                }
            } catch {
                for (key, occurrences) in rest { payments.add(occurrences, for: key) }
                throw error
            }
            rest = rest.dropFirst(batch.count)
        }
        return collected.count
    }
}
