package import MerchantCore
import Vocabulary

/// Records refused requests in the audit.
package struct RefusalAudit: Sendable {
    package typealias Records = Transactions<Void, any ChangeRecording>

    private let records: Records
    private let refusals: RefusalLog
    private let clock: any WallClock

    package init(records: Records, refusals: RefusalLog, clock: any WallClock) {
        self.records = records
        self.refusals = refusals
        self.clock = clock
    }

    /// Writes one audit record for each group of refused requests, with the number of requests and the times of the
    /// first and the last request. A group has requests of the same kind. Requests beyond the limits of
    /// ``RefusedRequests`` are grouped by user, or all together.
    ///
    /// If the audit cannot be written, the refused requests are kept for the next call.
    ///
    /// - Returns: the number of audit records written.
    @discardableResult
    package func recordRefusals(as daemon: Caller) async throws -> Int {
        let collected = refusals.collect()
        let groups = collected.groups
        guard !groups.isEmpty else { return 0 }
        let now = clock.now
        let entries = groups.map { Self.entry($0, $1, at: now, by: daemon) }
        do {
            try await records.write { transaction in
                for entry in entries { try transaction.append(entry) }
            }
        } catch {
            refusals.putBack(collected)
            throw error
        }
        return entries.count
    }

    private static func entry(
        _ group: RefusedRequests.Group, _ requests: Occurrences, at now: Timestamp, by daemon: Caller
    ) -> AuditEntry {
        let summary =
            "\(requests.count.counted("request")) from \(requests.first) to \(requests.last)"
        func makeEntry(
            _ caller: Caller, _ cause: String, _ refusal: RefusalKind? = nil
        ) -> AuditEntry {
            AuditEntry(
                .requestsRefused, by: caller, at: now, merchant: refusal?.merchant, key: refusal?.key,
                reason: "\(summary): \(cause)", requestId: "refused-requests")
        }
        switch group {
        case .kind(let refusal):
            let scope = refusal.merchant == nil ? "" : " for this merchant"
            let cause = refusal.permit.map { "no permit '\($0.rawValue)'\(scope)" } ?? "no permit at all"
            return makeEntry(refusal.caller, cause, refusal)
        case .others(let caller):
            return makeEntry(
                caller, "no permit (requests of this user that are not counted in other records)")
        case .remainder:
            return makeEntry(daemon, "no permit (requests of several users that are not counted in other records)")
        }
    }
}
