package import MerchantCore
import Synchronization
import Vocabulary

/// Records in the audit that callers sent a `validationURL` that the daemon refused.
///
/// If a caller has no such record in the last minute, its request is recorded at once. Otherwise its requests are
/// counted, and recorded together later. At most ``ValidationURLRefusals/maximumCallers`` callers are counted
/// separately; the requests of further callers share one count. So no caller can fill the audit or the memory.
package final class ValidationURLAudit: Sendable {
    package typealias Records = Transactions<Void, any ChangeRecording>

    /// The shortest time between two records of one caller, except at shutdown.
    package static let interval = Duration.seconds(60)

    private let records: Records
    private let clock: any WallClock
    private let state = Mutex(ValidationURLRefusals())

    package init(records: Records, clock: any WallClock) {
        self.records = records
        self.clock = clock
    }

    /// Counts a refused request, and records it unless the caller has a record in the last minute.
    ///
    /// - Parameter finding: what is wrong with the URL, without secrets.
    func note(_ finding: String, of request: Request) async {
        let now = clock.now
        let count = ValidationURLRefusals.Count(
            caller: request.caller, requests: Occurrences(count: 1, first: now, last: now),
            requestId: request.requestId, finding: finding)
        let isCountedSeparately = state.withLock { $0.add(count) }
        guard isCountedSeparately else { return }
        // The caller gets the reason of the refusal even if the audit cannot be written. The count is kept for the next
        // attempt.
        _ = try? await record(onlyOf: request.caller.name)
    }

    /// Records the requests that are counted and not recorded yet, of each caller without a record in the last minute.
    ///
    /// - Parameters:
    ///   - daemon: the caller to name in the record of requests that are not counted separately.
    ///   - isLast: whether the daemon shuts down, so that all counted requests are recorded.
    /// - Returns: the number of audit records written.
    @discardableResult
    package func recordRefusals(as daemon: Caller, isLast: Bool = false) async throws -> Int {
        try await record(others: daemon, isLast: isLast)
    }

    private func record(
        onlyOf caller: String? = nil, others daemon: Caller? = nil, isLast: Bool = false
    ) async throws -> Int {
        let uptime = clock.uptime
        let (counts, others) = state.withLock { state in
            (
                state.takeDue(of: caller, at: uptime, isLast: isLast),
                daemon == nil ? nil : state.takeOthers(at: uptime, isLast: isLast)
            )
        }
        guard !counts.isEmpty || others != nil else { return 0 }
        let now = clock.now
        var entries = counts.map { Self.entry($0, by: $0.caller, at: now) }
        if let others, let daemon { entries.append(Self.entry(others, by: daemon, at: now)) }
        do {
            try await records.write { [entries] transaction in
                for entry in entries { try transaction.append(entry) }
            }
        } catch {
            state.withLock { $0.putBack(counts, others) }
            throw error
        }
        return entries.count
    }

    private static func entry(_ count: ValidationURLRefusals.Count, by caller: Caller, at now: Timestamp) -> AuditEntry
    {
        let requests = count.requests
        return AuditEntry(
            .validationURLRefused, by: caller, at: now,
            reason:
                "\(requests.count.counted("request")) from \(requests.first) to \(requests.last), the first one: \(count.finding)",
            requestId: count.requestId)
    }
}
