package import MerchantCore
import Vocabulary

/// Converts a row of `event_deliveries`, joined with its row of `events`, to a delivery.
package enum DeliveryRow {
    package static let columns = "\(EventRow.columns), lane, failures, first_failed_at, due_at"

    package static func delivery(_ row: some StoredRow) throws -> PendingDelivery {
        PendingDelivery(
            event: try EventRow.event(row), lane: try row.text("lane"), failures: try row.integer("failures"),
            firstFailed: try row.timestampIfAny("first_failed_at"), due: try row.timestamp("due_at"))
    }
}
