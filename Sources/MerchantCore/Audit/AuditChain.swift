package import Vocabulary

/// The sequence number and hash of the last audit record. With a copy of the head on another machine, an operator can
/// later detect whether that record or an earlier record was changed or removed.
package struct AuditHead: Hashable, Sendable, LosslessStringConvertible {
    package let sequence: Int
    package let hash: [UInt8]

    package init(sequence: Int, hash: [UInt8]) {
        self.sequence = sequence
        self.hash = hash
    }

    /// Reads the form that ``description`` writes.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let sequence = Int(parts[0]), sequence > 0, let hash = Hex.decode(String(parts[1])),
            hash.count == AuditRecord.genesis.count
        else { return nil }
        self.init(sequence: sequence, hash: hash)
    }

    /// The sequence, a colon and the hash: `1044:` and 64 hexadecimal digits.
    package var description: String { "\(sequence):\(Hex.encode(hash))" }
}

/// A filter for audit records. A nil field matches every record.
package struct AuditFilter: Hashable, Sendable {
    package var merchant: MerchantIdentifier?
    package var key: PublicKeyHash?
    /// The caller's name: ``Caller/name``.
    package var caller: String?
    /// Matches records at or after this time.
    package var since: Timestamp?
    /// Matches records before this time.
    package var until: Timestamp?

    package init(
        merchant: MerchantIdentifier? = nil, key: PublicKeyHash? = nil, caller: String? = nil,
        since: Timestamp? = nil, until: Timestamp? = nil
    ) {
        self.merchant = merchant
        self.key = key
        self.caller = caller
        self.since = since
        self.until = until
    }
}

/// One stored row of the audit chain.
package enum AuditLink: Hashable, Sendable {
    case record(AuditRecord)
    /// A row whose values are not valid for a record.
    case unreadable(sequence: Int)
}

/// A range of the chain, oldest record first, and the store's counter of records, both read in one transaction.
package struct AuditSegment: Hashable, Sendable {
    package let links: [AuditLink]
    /// The highest sequence ever assigned, according to the store's counter.
    package let highestAssigned: Int

    package init(links: [AuditLink], highestAssigned: Int) {
        self.links = links
        self.highestAssigned = highestAssigned
    }
}

/// A fault that the verification of the chain has found.
package struct AuditBreak: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        /// A record or the store's counter of records was changed.
        case edited
        /// Records are missing inside the chain.
        case removed
        /// Records are missing at the end of the chain.
        case cutOff
        /// A record has the content and hash that belong to another sequence.
        case reordered
        /// The hash of a stored record differs from the hash in a head that was kept elsewhere.
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
