package import Vocabulary

extension Paths {
    package static let audit = "/v1/audit"
    package static let auditVerification = "/v1/audit/verification"
}

/// One record of `GET /v1/audit`. The records form a hash chain: each contains the hash of the record before it.
package struct AuditRecordDocument: Codable, Hashable, Sendable {
    /// Who requested the operation: a process on a socket, or a client of the portal. For an operation that the daemon
    /// performs by itself, the daemon's process.
    package struct CallerDocument: Codable, Hashable, Sendable {
        /// `uid:` and the user's number for a process. `access:`, `invitation:` or `operator:` and an identifier for a
        /// client of the portal; `unidentified` for a client without valid credentials.
        package let name: String
        /// Present only for a process, like `gid`, `pid` and `program`.
        package var uid: UInt32?
        package var gid: UInt32?
        package var pid: Int32?
        /// The path of the program. If the path could not be read, the name of the process in brackets.
        package var program: String?
        /// The IP address of a client of the portal.
        package var address: String?

        package init(name: String) { self.name = name }
    }

    /// The number of the record. The first record has the number 1.
    package let sequence: Int
    package let at: Timestamp
    /// The code of the operation that the record describes.
    package let action: String
    package let caller: CallerDocument
    package var merchantIdentifier: MerchantIdentifier?
    package var publicKeyHash: PublicKeyHash?
    /// The value that the operation changed, such as the state of a key, before the operation.
    package var before: String?
    /// The same value after the operation, or details of the result if the operation changes no value.
    package var after: String?
    package var reason: String?
    package var requestId: String?
    /// The name of the daemon that performed the operation, if daemons share a PostgreSQL database; absent on SQLite.
    package var node: NodeName?
    /// The record's hash as lower-case hexadecimal. The next record contains this hash as `previousHash`.
    package let hash: String
    package let previousHash: String

    package init(
        _ sequence: Int, at time: Timestamp, action: String, caller: CallerDocument, hash: String, previousHash: String
    ) {
        (self.sequence, at, self.action, self.caller) = (sequence, time, action, caller)
        (self.hash, self.previousHash) = (hash, previousHash)
    }
}

/// The audit head: the number and the hash of the last record of the audit chain.
package struct AuditHeadDocument: TextValue {
    /// The number of the record.
    package let sequence: Int
    /// Lower-case hexadecimal.
    package let hash: String

    package init(sequence: Int, hash: String) { (self.sequence, self.hash) = (sequence, hash) }

    package init?(text: String) {
        // Not a regular expression: its first use takes a millisecond, and each `merchantkeyctl status` reads a head.
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 2, let first = parts[0].first, first != UInt8(ascii: "0"), parts[0].count <= 18,
            parts[0].allSatisfy(Self.isDigit), let sequence = Int(Substring(parts[0])), parts[1].count == 64,
            parts[1].allSatisfy({ Self.isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) })
        else { return nil }
        self.init(sequence: sequence, hash: String(Substring(parts[1])))
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// The number, a colon and the hash: the same form as in `audit verify --head`, in events and in the file of
    /// `audit.head.file`.
    package var text: String { "\(sequence):\(hash)" }

    package static func refusal(of text: String) -> String {
        "is not an audit head, expected the number and the hash of a record, such as 1044:6f3c…"
    }
}

/// A break: an inconsistency in the audit chain.
package struct AuditBreakDocument: Codable, Hashable, Sendable {
    /// `edited`: a record was changed. `removed`: records before the last record are missing. `cutOff`: records at the
    /// end are missing. `reordered`: a record is at another position. `rewritten`: a record's hash differs from the
    /// audit head in the request.
    package let kind: String
    /// The number of the first record that is wrong or missing.
    package let sequence: Int
    package let detail: String

    package init(kind: String, sequence: Int, detail: String) {
        (self.kind, self.sequence, self.detail) = (kind, sequence, detail)
    }
}

/// The response of `GET /v1/audit/verification`: the result for one range of the audit chain.
package struct AuditVerificationDocument: Codable, Hashable, Sendable {
    /// The number of records that were verified.
    package var examined = 0
    /// The number of all breaks of the range, plus 1 if the chain does not match the audit head in the request.
    package var breakCount = 0
    /// At most 100 breaks of the range. If the chain does not match the audit head in the request, an additional break
    /// comes first.
    package var breaks: [AuditBreakDocument] = []
    /// The number and hash of the last record in the database; nil if the database has no record.
    package var head: AuditHeadDocument?
    /// The `cursor` of the next range; nil at the end.
    package var nextCursor: String?

    package init() {}
}
