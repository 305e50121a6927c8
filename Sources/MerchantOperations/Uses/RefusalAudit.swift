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

    /// Writes one audit record for each group of refused requests, with their number and the times of the first and
    /// last.
    ///
    /// If the audit cannot be written, the refused requests are kept for the next call.
    ///
    /// - Returns: the number of audit records written.
    @discardableResult
    package func recordRefusals(as daemon: Caller) async throws -> Int {
        let refused = refusals.collect()
        let groups = refused.groups
        guard !groups.isEmpty else { return 0 }
        let now = clock.now
        let entries = groups.map { Self.entry($0, $1, at: now, by: daemon) }
        do {
            try await records.write { transaction in
                for entry in entries { try transaction.append(entry) }
            }
        } catch {
            refusals.putBack(refused)
            throw error
        }
        return entries.count
    }

    private static func entry(
        _ group: RefusedRequests.Group, _ seen: ObservedUse, at now: Timestamp, by daemon: Caller
    ) -> AuditEntry {
        let count = "\(seen.count) request\(seen.count == 1 ? "" : "s") from \(seen.first) to \(seen.last)"
        func entry(
            _ caller: Caller, _ what: String, _ refusal: Refusal? = nil
        ) -> AuditEntry {
            AuditEntry(
                .requestsRefused, by: caller, at: now, merchant: refusal?.merchant, key: refusal?.key,
                reason: "\(count): \(what)", requestId: "refused-requests")
        }
        switch group {
        case .kind(let refusal):
            let scope = refusal.merchant == nil ? "" : " for this merchant"
            let what = refusal.permit.map { "no permit '\($0.rawValue)'\(scope)" } ?? "no permit at all"
            return entry(refusal.caller, what, refusal)
        case .others(let caller):
            return entry(caller, "further requests of this user without permit, of other kinds or by other processes")
        case .othersOfAnybody: return entry(daemon, "further requests of other users without permit")
        }
    }
}
