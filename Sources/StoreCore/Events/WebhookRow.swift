package import MerchantCore
package import Vocabulary

/// Converts a webhook of the settings to its row in `event_webhooks`, and a row to the webhook's state.
package enum WebhookRow {
    /// Converts a row with the columns of the webhook and `oldest_at`, the time of its oldest undelivered event that is
    /// not parked.
    package static func state(_ row: some StoredRow) throws -> WebhookState {
        var state = WebhookState(name: try row.text("name"))
        state.undelivered = try row.integer("undelivered")
        state.parked = try row.integer("parked")
        state.oldestUndelivered = try row.timestampIfAny("oldest_at")
        state.lastDelivered = try row.timestampIfAny("last_delivered_at")
        state.lastFailed = try row.timestampIfAny("last_failed_at")
        state.lastFailure = try row.textIfAny("last_failure")
        return state
    }

    /// The values of `name`, `kinds` and `registered_at`.
    package static func values(_ webhook: WebhookRegistration, at now: Timestamp) -> Arguments {
        // Each kind has a comma on both sides, so that the trigger `events_go_out` can search for ',kind,'.
        let kinds = webhook.kinds.map { ",\($0.map(\.rawValue).sorted().joined(separator: ","))," }
        return [webhook.name, kinds, now]
    }
}
