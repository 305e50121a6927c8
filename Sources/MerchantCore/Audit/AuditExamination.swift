/// Walks along the chain, record by record, and notes where it does not hold. Keeps little, however long the chain is.
package struct AuditExamination: Sendable {
    /// More breaks than these are counted, not described.
    package static let mostBreaks = 100

    /// How many records were examined.
    package private(set) var examined = 0
    package private(set) var breakCount = 0
    package private(set) var breaks: [AuditBreak] = []
    /// The last record that was examined, if it was intact.
    package private(set) var last: AuditHead?
    /// The sequence to come next.
    package private(set) var next: Int

    /// What the next record is to name as the hash before it; nil after a break, where nothing can be expected.
    private var previousHash: [UInt8]?
    /// The records that are not intact, to see whether each stands in another one's place.
    private var strangers: [AuditRecord] = []

    /// - Parameters:
    ///   - next: the sequence to begin with.
    ///   - previousHash: of the record before; nil where it is unknown.
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
            note(.edited, sequence, "record \(sequence) holds a value that no record can have")
            previousHash = nil
        case .record(let record) where !record.isIntact:
            note(.edited, sequence, "record \(sequence) is not what its hash was made over")
            if strangers.count < Self.mostBreaks { strangers.append(record) }
            previousHash = nil
        case .record(let record):
            if let previousHash, previousHash != record.previousHash {
                note(
                    .edited, sequence,
                    sequence == 1
                        ? "record 1 follows another record, expected it to be the first"
                        : "record \(sequence) follows a different record \(sequence - 1) than the stored one: one of the two was replaced"
                )
            }
            previousHash = record.hash
            last = AuditHead(sequence: sequence, hash: record.hash)
        }
    }

    /// To be called once, at the end of the chain.
    ///
    /// - Parameter given: the highest sequence that was ever given.
    package mutating func finish(given: Int) {
        if given >= next { note(.cutOff, next, Self.missing(next, given, "cut off the end")) }
        if given < next - 1 {
            note(.edited, next - 1, "the counter says that \(given) records were made, found one more at least")
        }
    }

    /// Says of records that were exchanged among each other that they were. To be called when no more are examined.
    package mutating func checkOrder() {
        let places = Set(strangers.map(\.sequence))
        for stranger in strangers {
            guard let origin = places.first(where: { stranger.fits(sequence: $0) }),
                let index = breaks.firstIndex(where: { $0.kind == .edited && $0.sequence == stranger.sequence })
            else { continue }
            breaks[index] = AuditBreak(
                .reordered, at: stranger.sequence, "record \(origin) stands in the place of record \(stranger.sequence)"
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
    /// Holds a head that was kept elsewhere against the record in its place.
    ///
    /// - Parameter link: what the store holds there; nil for nothing.
    package static func against(_ kept: AuditHead, _ link: AuditLink?) -> AuditBreak? {
        switch link {
        case nil:
            AuditBreak(
                .cutOff, at: kept.sequence,
                "record \(kept.sequence), whose hash was kept, is not here: records were cut off, or an older copy of the database was put back"
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
