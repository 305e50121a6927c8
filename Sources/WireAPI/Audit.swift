package import Vocabulary

extension Paths {
    package static let audit = "/v1/audit"
    package static let auditVerification = "/v1/audit/verification"
}

/// One record of `GET /v1/audit`.
package struct AuditRecordDocument: Codable, Hashable, Sendable {
    package struct CallerDocument: Codable, Hashable, Sendable {
        package let uid: UInt32
        package let gid: UInt32
        package let pid: Int32
        package let program: String

        package init(uid: UInt32, gid: UInt32, pid: Int32, program: String) {
            (self.uid, self.gid, self.pid, self.program) = (uid, gid, pid, program)
        }
    }

    package let sequence: Int
    package let at: Timestamp
    package let action: String
    package let caller: CallerDocument
    package var merchantIdentifier: MerchantIdentifier?
    package var publicKeyHash: PublicKeyHash?
    package var before: String?
    package var after: String?
    package var reason: String?
    package var requestId: String?
    /// Lower-case hexadecimal. The next record has this value as its `previousHash`.
    package let hash: String
    package let previousHash: String

    package init(
        _ sequence: Int, at time: Timestamp, action: String, caller: CallerDocument, hash: String, previousHash: String
    ) {
        (self.sequence, at, self.action, self.caller) = (sequence, time, action, caller)
        (self.hash, self.previousHash) = (hash, previousHash)
    }
}

/// The last record of the audit chain.
package struct AuditHeadDocument: Codable, Hashable, Sendable, CustomStringConvertible {
    package let sequence: Int
    /// Lower-case hexadecimal.
    package let hash: String

    package init(sequence: Int, hash: String) { (self.sequence, self.hash) = (sequence, hash) }

    /// The spelling that `audit verify --head` takes.
    package var description: String { "\(sequence):\(hash)" }
}

/// A place where the audit chain is broken.
package struct AuditBreakDocument: Codable, Hashable, Sendable {
    /// `edited`, `removed`, `cutOff`, `reordered` or `rewritten`.
    package let kind: String
    package let sequence: Int
    package let detail: String

    package init(kind: String, sequence: Int, detail: String) {
        (self.kind, self.sequence, self.detail) = (kind, sequence, detail)
    }
}

/// `GET /v1/audit/verification`: the result for one range of the chain.
package struct AuditVerificationDocument: Codable, Hashable, Sendable {
    package var examined = 0
    package var breakCount = 0
    /// The first breaks: at most 100 of the chain, and before them one of the head that the request gave.
    package var breaks: [AuditBreakDocument] = []
    package var head: AuditHeadDocument?
    /// The `cursor` of the next range; nil at the end.
    package var nextCursor: String?

    package init() {}
}
