package import MerchantCore
package import Vocabulary

/// A webhook with its deliveries.
struct MemoryWebhook: Sendable {
    struct Delivery: Sendable {
        let sequence: Int
        let lane: String
        var failures = 0
        var firstFailed: Timestamp?
        var due = Timestamp(millisecondsSince1970: 0)
        var isParked = false
    }

    var registration: WebhookRegistration
    var isRemoved = false
    /// By sequence, ascending.
    var deliveries: [Delivery] = []
    var lastDelivered: Timestamp?
    var lastFailed: Timestamp?
    var lastFailure: String?
}

extension MemoryTransaction {
    package func append(_ event: Event) {
        hasEvents = true
        state.lastSequence += 1
        let sequence = state.lastSequence
        let digits = String(sequence, radix: 16)
        state.events.append(
            StoredEvent(
                sequence: sequence, id: String(repeating: "0", count: 32 - digits.count) + digits, event: event))
        for index in state.webhooks.indices where !state.webhooks[index].isRemoved {
            guard state.webhooks[index].registration.kinds?.contains(event.kind) ?? true else { continue }
            state.webhooks[index].deliveries.append(
                MemoryWebhook.Delivery(sequence: sequence, lane: event.merchantIdentifier?.rawValue ?? ""))
        }
    }

    package func events(_ query: EventQuery) -> [StoredEvent] {
        let found = state.events.filter { query.matches($0.event) }
        switch query.selection {
        case .after(let sequence): return Array(found.filter { $0.sequence > sequence }.prefix(query.limit))
        case .newest: return found.suffix(query.limit)
        }
    }

    package func webhooks() -> [WebhookState] {
        state.webhooks.filter { !$0.isRemoved }.sorted { $0.registration.name < $1.registration.name }.map { webhook in
            var result = WebhookState(name: webhook.registration.name)
            let waiting = webhook.deliveries.filter { !$0.isParked }
            result.undelivered = waiting.count
            result.parked = webhook.deliveries.count - waiting.count
            result.oldestUndelivered = waiting.first.flatMap { event($0.sequence)?.event.occurredAt }
            result.lastDelivered = webhook.lastDelivered
            result.lastFailed = webhook.lastFailed
            result.lastFailure = webhook.lastFailure
            return result
        }
    }

    private func event(_ sequence: Int) -> StoredEvent? { state.events.first { $0.sequence == sequence } }

    package func nextDeliveries(to webhook: String, limit: Int) -> [PendingDelivery] {
        guard let found = state.webhooks.first(where: { $0.registration.name == webhook && !$0.isRemoved }) else {
            return []
        }
        var lanes: Set<String> = []
        let first = found.deliveries.filter { !$0.isParked && lanes.insert($0.lane).inserted }
        return first.sorted { ($0.due, $0.sequence) < ($1.due, $1.sequence) }.prefix(limit).compactMap { delivery in
            event(delivery.sequence).map {
                PendingDelivery(
                    event: $0, lane: delivery.lane, failures: delivery.failures, firstFailed: delivery.firstFailed,
                    due: delivery.due)
            }
        }
    }

    package func removeEvents(occurredBefore time: Timestamp, limit: Int) -> Int {
        let needed = Set(
            state.webhooks.filter { !$0.isRemoved }.flatMap { $0.deliveries.filter { !$0.isParked }.map(\.sequence) })
        let old = state.events.filter { $0.event.occurredAt < time && !needed.contains($0.sequence) }
            .sorted { $0.event.occurredAt < $1.event.occurredAt }.prefix(limit).map(\.sequence)
        state.events.removeAll { old.contains($0.sequence) }
        for index in state.webhooks.indices {
            state.webhooks[index].deliveries.removeAll { old.contains($0.sequence) }
        }
        return old.count
    }

    package func setWebhooks(_ webhooks: [WebhookRegistration], at now: Timestamp) {
        for index in state.webhooks.indices { state.webhooks[index].isRemoved = true }
        for webhook in webhooks {
            if let index = state.webhooks.firstIndex(where: { $0.registration.name == webhook.name }) {
                state.webhooks[index].registration = webhook
                state.webhooks[index].isRemoved = false
            } else {
                state.webhooks.append(MemoryWebhook(registration: webhook))
            }
        }
    }

    package func markDelivered(_ sequence: Int, to webhook: String, at now: Timestamp) {
        change(webhook) {
            $0.deliveries.removeAll { $0.sequence == sequence }
            $0.lastDelivered = now
        }
    }

    package func markFailed(
        _ sequence: Int, to webhook: String, because reason: String, next: Timestamp?, at now: Timestamp
    ) {
        change(webhook) {
            $0.lastFailed = now
            $0.lastFailure = reason
            guard let index = $0.deliveries.firstIndex(where: { $0.sequence == sequence }) else { return }
            $0.deliveries[index].failures += 1
            $0.deliveries[index].firstFailed = $0.deliveries[index].firstFailed ?? now
            $0.deliveries[index].due = next ?? $0.deliveries[index].due
            $0.deliveries[index].isParked = next == nil
        }
    }

    package func unparkDeliveries(of sequence: Int?, to webhook: String?, limit: Int) -> Int {
        hasEvents = true
        var count = 0
        for state in webhooks() where webhook == nil || webhook == state.name {
            change(state.name) {
                for index in $0.deliveries.indices where $0.deliveries[index].isParked && count < limit {
                    let delivery = $0.deliveries[index]
                    guard sequence == nil || sequence == delivery.sequence else { continue }
                    $0.deliveries[index] = MemoryWebhook.Delivery(sequence: delivery.sequence, lane: delivery.lane)
                    count += 1
                }
            }
        }
        return count
    }

    private func change(_ webhook: String, _ body: (inout MemoryWebhook) -> Void) {
        guard let index = state.webhooks.firstIndex(where: { $0.registration.name == webhook }) else { return }
        body(&state.webhooks[index])
    }
}
