/// Verifies the audit chain record by record. Uses bounded memory, whatever the length of the chain.
package struct AuditExamination: Sendable {
    /// The most breaks that are described. Further breaks are only counted.
    package static let mostBreaks = 100

    /// How many records were examined.
    package private(set) var examined = 0
    package private(set) var breakCount = 0
    package private(set) var breaks: [AuditBreak] = []
    /// The last record that was examined, if it was intact.
    package private(set) var last: AuditHead?
    /// The sequence that the next record must have.
    package private(set) var next: Int

    /// The `previousHash` that the next record must have; nil after a break, where it is unknown.
    private var previousHash: [UInt8]?
    /// Records whose content does not match their hash. ``checkOrder()`` finds out which of them were moved.
    private var altered: [AuditRecord] = []

    /// - Parameters:
    ///   - next: the sequence of the first record to verify.
    ///   - previousHash: the hash of the record before it; nil if it is unknown.
    package init(from next: Int = 1, after previousHash: [UInt8]? = AuditRecord.genesis) {
        self.next = next
        self.previousHash = previousHash
    }

    package mutating func examine(_ link: AuditLink) {
        examined += 1
        let sequence = link.sequence
        if sequence > next {
            note(.removed, next, Self.missing(next, sequence - 1, "missing"))
            previousHash = nil
        }
        next = sequence + 1
        last = nil
        switch link {
        case .unreadable:
            note(.edited, sequence, "record \(sequence) has a value that is not valid for a record")
            previousHash = nil
        case .record(let record) where !record.isIntact:
            note(.edited, sequence, "record \(sequence) was changed: its content does not match its hash")
            if altered.count < Self.mostBreaks { altered.append(record) }
            previousHash = nil
        case .record(let record):
            if let previousHash, previousHash != record.previousHash {
                note(
                    .edited, sequence,
                    sequence == 1
                        ? "record 1 has a previous hash, expected it to be the first record"
                        : "record \(sequence) follows a different record \(sequence - 1) than the stored one: one of the two was replaced"
                )
            }
            previousHash = record.hash
            last = AuditHead(sequence: sequence, hash: record.hash)
        }
    }

    /// Finds records that are missing at the end. Call once, after the last record.
    ///
    /// - Parameter highestAssigned: the highest sequence ever assigned.
    package mutating func finish(highestAssigned: Int) {
        if highestAssigned >= next { note(.cutOff, next, Self.missing(next, highestAssigned, "missing at the end")) }
        if highestAssigned < next - 1 {
            note(
                .edited, next - 1,
                "the counter says that \(highestAssigned) records were written, found record \(next - 1)")
        }
    }

    /// Marks altered records as reordered if they belong in the place of another altered record. Call once, after the
    /// last record.
    package mutating func checkOrder() {
        let places = Set(altered.map(\.sequence))
        for record in altered {
            guard let origin = places.first(where: { record.fits(sequence: $0) }),
                let index = breaks.firstIndex(where: { $0.kind == .edited && $0.sequence == record.sequence })
            else { continue }
            breaks[index] = AuditBreak(
                .reordered, at: record.sequence, "record \(origin) is in the place of record \(record.sequence)"
            )
        }
    }

    private mutating func note(_ kind: AuditBreak.Kind, _ sequence: Int, _ detail: String) {
        breakCount += 1
        if breaks.count < Self.mostBreaks { breaks.append(AuditBreak(kind, at: sequence, detail)) }
    }

    private static func missing(_ first: Int, _ last: Int, _ how: String) -> String {
        first == last ? "record \(first) is \(how)" : "records \(first) to \(last) are \(how)"
    }
}

extension AuditLink {
    package var sequence: Int {
        switch self {
        case .record(let record): record.sequence
        case .unreadable(let sequence): sequence
        }
    }
}

extension AuditBreak {
    /// Compares a head that was kept elsewhere with the stored record of the same sequence. Returns nil if their hashes
    /// are equal.
    ///
    /// - Parameter link: the stored record; nil if there is none.
    package static func against(_ kept: AuditHead, _ link: AuditLink?) -> AuditBreak? {
        switch link {
        case nil:
            AuditBreak(
                .cutOff, at: kept.sequence,
                "record \(kept.sequence), whose hash was kept, is missing: records were removed, or an older copy of the database was restored"
            )
        case .record(let record) where record.hash == kept.hash: nil
        default:
            AuditBreak(
                .rewritten, at: kept.sequence,
                "record \(kept.sequence) has another hash than the head that was kept: the chain was rewritten, or this is another database"
            )
        }
    }
}
