import MerchantCore
import Vocabulary

/// Decryptors neither read nor make events.
extension FakeTransaction {
    func append(_ event: Event) throws { state.events.append(event) }
    func events(_ query: EventQuery) throws -> [StoredEvent] { throw FakeStore.NotNeeded() }
    func webhooks() throws -> [WebhookState] { throw FakeStore.NotNeeded() }
    func nextDeliveries(to webhook: String, limit: Int) throws -> [PendingDelivery] { throw FakeStore.NotNeeded() }
    func removeEvents(occurredBefore moment: Timestamp, limit: Int) throws -> Int { throw FakeStore.NotNeeded() }
    func keepWebhooks(_ webhooks: [WebhookRegistration], at now: Timestamp) throws { throw FakeStore.NotNeeded() }
    func markDelivered(_ sequence: Int, to webhook: String, at now: Timestamp) throws { throw FakeStore.NotNeeded() }
    func markFailed(
        _ sequence: Int, to webhook: String, because reason: String, next: Timestamp?, at now: Timestamp
    ) throws { throw FakeStore.NotNeeded() }
    func unparkDeliveries(of sequence: Int?, to webhook: String?, limit: Int) throws -> Int {
        throw FakeStore.NotNeeded()
    }
}
