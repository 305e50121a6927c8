import MerchantCore
import Vocabulary

/// The permits of callers, as the audit last recorded them.
enum RecordedPermits {
    private static let valueName = "permits"

    /// Whether the permits in `policy` are those that were recorded last.
    static func match(_ policy: CallerPolicy, in reading: any DaemonStateReading) throws -> Bool {
        try reading.daemonValue(valueName) == policy.summary
    }

    /// Records the permits, if they have changed.
    static func update(
        to policy: CallerPolicy, at now: Timestamp, for request: Request,
        in transaction: any DaemonStateWriting & ChangeRecording
    ) throws {
        let permits = policy.summary
        let before = try transaction.daemonValue(valueName)
        guard before != permits else { return }
        try transaction.setDaemonValue(valueName, permits)
        try transaction.append(request.auditEntry(.permitsChanged, at: now, before: before, after: permits))
    }
}

extension CallerPolicy {
    /// The policy as one line. Equal policies have equal lines.
    fileprivate var summary: String {
        rules.map { rule in
            let subject =
                switch rule.subject {
                case .uid(let uid): "uid=\(uid)"
                case .gid(let gid): "gid=\(gid)"
                }
            let permits = rule.grant.permits.map(\.rawValue).sorted().joined(separator: ",")
            let merchants = rule.grant.merchants.map { $0.map(\.rawValue).sorted().joined(separator: ",") } ?? "*"
            return "\(subject) permits=\(permits) merchants=\(merchants)"
        }.joined(separator: "; ")
    }
}
