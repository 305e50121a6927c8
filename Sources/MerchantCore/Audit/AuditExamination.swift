import Vocabulary

/// Verifies the audit chain record by record. The memory that it uses does not depend on the length of the chain.
package struct AuditExamination: Sendable {
    /// At most this many breaks are described. Further breaks are only counted.
    package static let maximumBreaks = 100

    /// How many records were examined.
    package private(set) var examined = 0
    package private(set) var breakCount = 0
    package private(set) var breaks: [AuditBreak] = []
    /// The last record that was examined; nil if that record was not intact, or if none was examined yet.
    package private(set) var last: AuditHead?
    /// The sequence that the next record must have.
    package private(set) var next: Int

    /// The `previousHash` that the next record must have; nil if the record before it is missing, unreadable or
    /// altered.
    private var previousHash: [UInt8]?
    /// Records whose content does not match their hash. ``markReorderedRecords()`` finds out which of these records
    /// were moved.
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
            addBreak(.removed, next, Self.records(next, to: sequence - 1, are: "missing"))
            previousHash = nil
        }
        next = sequence + 1
        last = nil
        switch link {
        case .unreadable:
            addBreak(.edited, sequence, "record \(sequence) has a value that is not valid for a record")
            previousHash = nil
        case .record(let record) where !record.isIntact:
            addBreak(.edited, sequence, "record \(sequence) was changed: its content does not match its hash")
            if altered.count < Self.maximumBreaks { altered.append(record) }
            previousHash = nil
        case .record(let record):
            if let previousHash, previousHash != record.previousHash {
                addBreak(
                    .edited, sequence,
                    sequence == 1
                        ? "record 1 contains the hash of an earlier record, but must be the first: it was replaced, or records before it were removed"
                        : "the hash of record \(sequence - 1) differs from the previous hash in record \(sequence): one of the two records was replaced"
                )
            }
            previousHash = record.hash
            last = AuditHead(sequence: sequence, hash: record.hash)
        }
    }

    /// Compares the last record with the store's counter of records. Finds records that are missing at the end, and
    /// records that the counter does not include. Call once, after the last record.
    ///
    /// - Parameter highestAssigned: the highest sequence ever assigned, according to the store's counter.
    package mutating func finish(highestAssigned: Int) {
        if highestAssigned >= next {
            addBreak(.cutOff, next, Self.records(next, to: highestAssigned, are: "missing at the end"))
        }
        if highestAssigned < next - 1 {
            addBreak(
                .edited, next - 1,
                "record \(next - 1) exists, but the database's counter says that only \(highestAssigned.counted("record was", "records were")) written: the counter was changed, or records were added without it"
            )
        }
    }

    /// Marks an altered record as reordered if its hash fits the sequence of another altered record. Call once, after
    /// the last record.
    package mutating func markReorderedRecords() {
        let alteredSequences = Set(altered.map(\.sequence))
        for record in altered {
            guard let originalSequence = alteredSequences.first(where: { record.fits(sequence: $0) }),
                let index = breaks.firstIndex(where: { $0.kind == .edited && $0.sequence == record.sequence })
            else { continue }
            breaks[index] = AuditBreak(
                .reordered, at: record.sequence,
                "record \(originalSequence) is in the place of record \(record.sequence)")
        }
    }

    private mutating func addBreak(_ kind: AuditBreak.Kind, _ sequence: Int, _ detail: String) {
        breakCount += 1
        if breaks.count < Self.maximumBreaks { breaks.append(AuditBreak(kind, at: sequence, detail)) }
    }

    private static func records(_ first: Int, to last: Int, are predicate: String) -> String {
        first == last ? "record \(first) is \(predicate)" : "records \(first) to \(last) are \(predicate)"
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
    /// Compares a head that was kept elsewhere with the stored record of the same sequence.
    ///
    /// - Parameter stored: the stored record; nil if there is none.
    /// - Returns: the difference; nil if the hashes are equal.
    package static func comparing(_ kept: AuditHead, with stored: AuditLink?) -> AuditBreak? {
        switch stored {
        case nil:
            AuditBreak(
                .cutOff, at: kept.sequence,
                "the saved audit head names record \(kept.sequence), but the database does not contain this record: records were removed, or an older copy of the database was restored"
            )
        case .record(let record) where record.hash == kept.hash: nil
        default:
            AuditBreak(
                .rewritten, at: kept.sequence,
                "the hash of record \(kept.sequence) differs from the hash in the saved audit head: the chain was rewritten, or this is another database"
            )
        }
    }
}
