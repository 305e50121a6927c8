import MerchantCore
import Vocabulary

/// Events are listed; deliveries to webhooks are for the real store's tests, and here nothing is ever on its way.
extension MemoryTransaction {
    func append(_ event: Event) {
        let sequence = state.events.count + 1
        let digits = String(sequence, radix: 16)
        state.events.append(
            StoredEvent(
                sequence: sequence, id: String(repeating: "0", count: 32 - digits.count) + digits, event: event))
    }

    func events(_ query: EventQuery) -> [StoredEvent] {
        let found = state.events.filter { query.isAbout($0.event) }
        switch query.part {
        case .after(let sequence): return Array(found.filter { $0.sequence > sequence }.prefix(query.limit))
        case .newest: return found.suffix(query.limit)
        }
    }

    func webhooks() -> [WebhookState] { state.webhooks }

    func nextDeliveries(to webhook: String, limit: Int) -> [PendingDelivery] { [] }

    func removeEvents(occurredBefore moment: Timestamp, limit: Int) -> Int {
        let old = state.events.filter { $0.event.occurredAt < moment }.prefix(limit).map(\.sequence)
        state.events.removeAll { old.contains($0.sequence) }
        return old.count
    }

    func keepWebhooks(_ webhooks: [WebhookRegistration], at now: Timestamp) {
        state.webhooks = webhooks.map { WebhookState(name: $0.name) }
    }

    func markDelivered(_ sequence: Int, to webhook: String, at now: Timestamp) {}

    func markFailed(
        _ sequence: Int, to webhook: String, because reason: String, next: Timestamp?, at now: Timestamp
    ) {}

    func unparkDeliveries(of sequence: Int?, to webhook: String?, limit: Int) -> Int { 0 }
}
