package import MerchantCore
import Vocabulary

/// What a look at one piece of the audit chain found.
package struct AuditVerification: Sendable {
    package let examined: Int
    package let breakCount: Int
    /// The first of them, at most 100.
    package let breaks: [AuditBreak]
    /// The end of the chain at the time of the last read; nil for an empty one.
    package let head: AuditHead?
    /// The sequence to go on with; nil where the end was reached.
    package let next: Int?
}

extension MerchantOperations {
    /// One read of the store: short, so that the write-ahead log can be taken over between two.
    private static let recordsPerRead = 1000
    /// How many records one call examines at most.
    package static let recordsPerVerification = 50_000

    /// By `filter`; newest first those before `cursor`, or oldest first those after it.
    package func auditRecords(
        _ filter: AuditFilter, from cursor: Int?, oldestFirst: Bool, limit: Int
    ) async throws -> [AuditRecord] {
        try await repository.read {
            try $0.auditRecords(filter, from: cursor, oldestFirst: oldestFirst, limit: limit)
        }
    }

    /// Examines the chain from a record on, piece by piece; writers are not held up.
    ///
    /// - Parameters:
    ///   - sequence: where to begin: 1, or an earlier call's `next`.
    ///   - kept: a head that was kept elsewhere, to be held against the record in its place.
    package func verifyAudit(from sequence: Int = 1, against kept: AuditHead? = nil) async throws -> AuditVerification {
        var examination = try await examination(from: sequence)
        var head: AuditHead?
        var isAtEnd = false
        while !isAtEnd, examination.examined < Self.recordsPerVerification {
            try Task.checkCancellation()
            let next = examination.next
            let (stretch, lastHead) = try await repository.read { reading in
                (try reading.auditSegment(from: next, limit: Self.recordsPerRead), try reading.auditHead())
            }
            for link in stretch.links { examination.examine(link) }
            head = lastHead
            isAtEnd = stretch.links.count < Self.recordsPerRead
            if isAtEnd { examination.finish(given: stretch.given) }
        }
        examination.judgeOrder()
        var breaks = examination.breaks
        if let first = breaks.first { damage.note(first) }
        if let kept, let found = try await difference(from: kept) { breaks.insert(found, at: 0) }
        return AuditVerification(
            examined: examination.examined,
            breakCount: examination.breakCount + breaks.count - examination.breaks.count,
            breaks: breaks, head: head, next: isAtEnd ? nil : examination.next)
    }

    /// What is wrong with the chain by a head that was kept elsewhere; nil where the head is in its place.
    package func difference(from kept: AuditHead) async throws -> AuditBreak? {
        let stretch = try await repository.read { try $0.auditSegment(from: kept.sequence, limit: 1) }
        return AuditBreak.against(kept, stretch.links.first { $0.sequence == kept.sequence })
    }

    /// Ready for `sequence`, knowing the hash of the record before.
    private func examination(from sequence: Int) async throws -> AuditExamination {
        guard sequence > 1 else { return AuditExamination() }
        let before = try await repository.read { try $0.auditSegment(from: sequence - 1, limit: 1) }
        guard case .record(let record) = before.links.first, record.sequence == sequence - 1 else {
            return AuditExamination(from: sequence, after: nil)
        }
        return AuditExamination(from: sequence, after: record.hash)
    }
}
