package import MerchantCore
import Vocabulary

/// Records in the audit that a reload replaces settings, and stores the settings of which the database has a copy.
package struct SettingsRecording: Sendable {
    package typealias Records = Transactions<Void, any DaemonStateWriting & EventWriting & ChangeRecording>

    private let records: Records
    private let clock: any WallClock

    package init(records: Records, clock: any WallClock) {
        self.records = records
        self.clock = clock
    }

    /// Records a reload and the changed permits in the audit, and stores the list of webhooks, in one transaction.
    ///
    /// Call this before the new settings take effect: a permit must not apply before the audit contains it.
    ///
    /// - Parameters:
    ///   - policy: the new permits of callers.
    ///   - webhooks: the new list of webhooks. Events that wait for a webhook that is no longer in the list are not
    ///     delivered, unless a later list contains the webhook again.
    package func record(
        _ reload: SettingsReload, policy: CallerPolicy, webhooks: [WebhookRegistration], for request: Request
    ) async throws {
        let now = clock.now
        try await records.write { transaction in
            try transaction.append(
                request.auditEntry(
                    .settingsReloaded, at: now, after: Self.list(reload.changed),
                    reason: reload.needsRestart.isEmpty
                        ? nil : "needs a restart: \(Self.list(reload.needsRestart.map(\.name)))"))
            try RecordedPermits.update(to: policy, at: now, for: request, in: transaction)
            try transaction.setWebhooks(webhooks, at: now)
        }
    }

    private static func list(_ names: [String]) -> String { names.isEmpty ? "nothing" : names.joined(separator: ", ") }
}
