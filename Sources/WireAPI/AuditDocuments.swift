/// The end of the audit chain.
package struct AuditHeadDocument: Codable, Hashable, Sendable {
    package let sequence: Int
    /// Lower-case hexadecimal.
    package let hash: String

    package init(sequence: Int, hash: String) {
        self.sequence = sequence
        self.hash = hash
    }
}

/// A place where the audit chain does not hold.
package struct AuditBreakDocument: Codable, Hashable, Sendable {
    /// `edited`, `removed`, `cutOff`, `reordered` or `rewritten`.
    package let kind: String
    package let sequence: Int
    package let detail: String

    package init(kind: String, sequence: Int, detail: String) {
        self.kind = kind
        self.sequence = sequence
        self.detail = detail
    }
}

/// `GET /v1/audit/verification`: what a look at one piece of the chain found.
package struct AuditVerificationDocument: Codable, Hashable, Sendable {
    package let examined: Int
    package let breakCount: Int
    /// The first of them, at most 101.
    package let breaks: [AuditBreakDocument]
    package let head: AuditHeadDocument?
    /// What to pass as `cursor` for the rest of the chain; nil at its end.
    package let nextCursor: String?

    package init(
        examined: Int, breakCount: Int, breaks: [AuditBreakDocument], head: AuditHeadDocument?, nextCursor: String?
    ) {
        self.examined = examined
        self.breakCount = breakCount
        self.breaks = breaks
        self.head = head
        self.nextCursor = nextCursor
    }
}
