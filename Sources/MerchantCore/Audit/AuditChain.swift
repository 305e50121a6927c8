package import Vocabulary

/// The end of the audit chain. A copy stored elsewhere shows later whether a record before it was changed or removed.
package struct AuditHead: Hashable, Sendable, CustomStringConvertible {
    package let sequence: Int
    package let hash: [UInt8]

    package init(sequence: Int, hash: [UInt8]) {
        self.sequence = sequence
        self.hash = hash
    }

    /// Reads what ``description`` writes.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let sequence = Int(parts[0]), sequence > 0, let hash = Hex.decode(String(parts[1])),
            hash.count == AuditRecord.genesis.count
        else { return nil }
        self.init(sequence: sequence, hash: hash)
    }

    /// `1044:` and 64 hexadecimal digits.
    package var description: String { "\(sequence):\(Hex.encode(hash))" }
}

/// Which audit records are asked for; nil asks for all.
package struct AuditFilter: Hashable, Sendable {
    package var merchant: MerchantIdentifier?
    package var key: PublicKeyHash?
    package var callerUID: UInt32?
    /// The earliest time, included.
    package var since: Timestamp?
    /// The latest time, excluded.
    package var until: Timestamp?

    package init(
        merchant: MerchantIdentifier? = nil, key: PublicKeyHash? = nil, callerUID: UInt32? = nil,
        since: Timestamp? = nil, until: Timestamp? = nil
    ) {
        self.merchant = merchant
        self.key = key
        self.callerUID = callerUID
        self.since = since
        self.until = until
    }
}

/// One place of the chain as the store holds it.
package enum AuditLink: Hashable, Sendable {
    case record(AuditRecord)
    /// A row whose values are not those of a record.
    case unreadable(sequence: Int)
}

/// A range of the chain, oldest first, and the store's own counter at the same time.
package struct AuditSegment: Hashable, Sendable {
    package let links: [AuditLink]
    /// The highest sequence ever given, by the store's own counter.
    package let given: Int

    package init(links: [AuditLink], given: Int) {
        self.links = links
        self.given = given
    }
}

/// A place where the chain does not hold.
package struct AuditBreak: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        /// A record is not what was recorded.
        case edited
        /// Records are missing in between.
        case removed
        /// Records are missing at the end.
        case cutOff
        /// A record stands in another one's place.
        case reordered
        /// The chain is whole, but not the one whose head was kept.
        case rewritten
    }

    package let kind: Kind
    /// The first record that is wrong or missing.
    package let sequence: Int
    package let detail: String

    package init(_ kind: Kind, at sequence: Int, _ detail: String) {
        self.kind = kind
        self.sequence = sequence
        self.detail = detail
    }
}
