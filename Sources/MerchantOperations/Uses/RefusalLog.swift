package import MerchantCore
import Synchronization
import Vocabulary

/// What was refused to decryptors and is not on record yet. A refusal waits for nothing: it leaves a number in memory.
package final class RefusalLog: Sendable {
    private let clock: any WallClock
    private let gathered = Mutex(RefusedRequests())

    init(clock: any WallClock) { self.clock = clock }

    package func note(_ refusal: Refusal) {
        let now = clock.now
        gathered.withLock { $0.add(refusal, ObservedUse(count: 1, first: now, last: now)) }
    }

    func collect() -> RefusedRequests {
        gathered.withLock { gathered in
            defer { gathered = RefusedRequests() }
            return gathered
        }
    }

    func putBack(_ refused: RefusedRequests) {
        let groups = refused.groups
        gathered.withLock { gathered in for (group, seen) in groups { gathered.add(group, seen) } }
    }
}

extension MerchantOperations {
    /// Records what was refused to decryptors: one record a group, with how often, from when, until when.
    ///
    /// What cannot be recorded is kept for the next time.
    ///
    /// - Returns: how many records were made.
    @discardableResult
    package func recordRefusals(as daemon: Caller) async throws -> Int {
        let refused = refusals.collect()
        let groups = refused.groups
        guard !groups.isEmpty else { return 0 }
        let now = clock.now
        let entries = groups.map { Self.entry($0, $1, at: now, by: daemon) }
        do {
            try await repository.write { transaction in
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
            return entry(caller, "further requests of this user without permit, for other keys or by other processes")
        case .othersOfAnybody: return entry(daemon, "further requests of further users without permit")
        }
    }
}
