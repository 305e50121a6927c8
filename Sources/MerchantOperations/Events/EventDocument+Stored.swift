package import MerchantCore
import Vocabulary
package import WireAPI

extension EventDocument {
    /// The event as JSON, for the admin socket and for webhooks.
    package init(_ stored: StoredEvent) {
        let event = stored.event
        self.init(
            stored.id, sequence: stored.sequence, kind: event.kind.rawValue, severity: event.severity.rawValue,
            occurredAt: event.occurredAt, detail: event.detail)
        merchantIdentifier = event.merchantIdentifier
        publicKeyHash = event.publicKeyHash
        rollId = event.rollId
        merchantToken = event.merchantToken.map(MerchantTokenReportDocument.init)
    }
}
