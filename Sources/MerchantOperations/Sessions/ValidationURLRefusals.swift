import MerchantCore

/// Requests with a refused `validationURL` that are not in the audit yet, by caller.
struct ValidationURLRefusals: Sendable {
    /// At most this many callers are counted separately.
    static let maximumCallers = 64

    /// The refused requests of one caller since the last record.
    struct Count: Sendable {
        let caller: Caller
        var requests: Occurrences
        /// The identifier of the first of the requests, and what is wrong with its URL.
        let requestId: String
        let finding: String
    }

    private var waiting: [String: Count] = [:]
    /// The uptime at which each caller's last record was written, for the callers with a record in the last minute.
    private var recordedAt: [String: Duration] = [:]
    /// The requests of callers that are not counted separately.
    private var others: Count?
    private var othersRecordedAt: Duration?

    /// - Returns: whether the caller's requests are counted separately.
    mutating func add(_ count: Count) -> Bool {
        let name = count.caller.name
        if waiting[name] != nil {
            waiting[name]?.requests.add(count.requests)
        } else if waiting.count < Self.maximumCallers,
            recordedAt[name] != nil || recordedAt.count < Self.maximumCallers
        {
            waiting[name] = count
        } else {
            if others != nil { others?.requests.add(count.requests) } else { others = count }
            return false
        }
        return true
    }

    /// Removes and returns the counts that may be recorded now.
    mutating func takeDue(
        of caller: String?, at uptime: Duration, isLast: Bool
    ) -> [Count] {
        recordedAt = recordedAt.filter { uptime - $0.value < ValidationURLAudit.interval }
        let due = waiting.filter { name, _ in
            (caller == nil || caller == name) && (isLast || recordedAt[name] == nil)
        }
        for name in due.keys {
            waiting[name] = nil
            recordedAt[name] = uptime
        }
        return due.values.sorted { $0.requests.first < $1.requests.first }
    }

    mutating func takeOthers(at uptime: Duration, isLast: Bool) -> Count? {
        if let othersRecordedAt, uptime - othersRecordedAt < ValidationURLAudit.interval, !isLast { return nil }
        guard let count = others else { return nil }
        others = nil
        othersRecordedAt = uptime
        return count
    }

    /// Adds counts again that could not be recorded, so that the next attempt records them.
    mutating func putBack(_ counts: [Count], _ others: Count?) {
        for count in counts {
            recordedAt[count.caller.name] = nil
            _ = add(count)
        }
        guard let others else { return }
        othersRecordedAt = nil
        if self.others != nil { self.others?.requests.add(others.requests) } else { self.others = others }
    }
}
