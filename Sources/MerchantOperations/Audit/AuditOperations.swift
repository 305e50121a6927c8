package import MerchantCore
import Vocabulary

/// The result of verifying one range of the audit chain.
package struct AuditVerification: Sendable {
    /// The number of records that were verified.
    package let examined: Int
    /// How many breaks were found: records that were changed, removed or reordered, and a difference from the external
    /// head. Includes breaks that are not in ``breaks``.
    package let breakCount: Int
    /// The difference from the external head, if there is one, and the first breaks of the range, at most 100.
    package let breaks: [AuditBreak]
    /// The sequence number and hash of the record that was the chain's last one during this verification; nil for an
    /// empty chain.
    package let head: AuditHead?
    /// The sequence number of the record at which the next call must start; nil if this call reached the end of the
    /// chain.
    package let next: Int?
}

/// Reads and verifies the audit.
package struct AuditOperations: Sendable {
    package typealias Records = Transactions<
        any AuditReading & DaemonStateReading, any AuditReading & ChangeRecording & DaemonStateWriting
    >

    /// The name of the stored value that remembers the audit head last reported by ``reportHead()``.
    private static let reportedHeadValueName = "reportedAuditHead"

    private let records: Records
    private let findings: IntegrityFindings
    private let clock: any WallClock

    package init(records: Records, findings: IntegrityFindings, clock: any WallClock) {
        self.records = records
        self.findings = findings
        self.clock = clock
    }

    /// The largest number of records in one read. It is small, so that the write-ahead log can be checkpointed between
    /// two reads.
    private static let recordsPerRead = 1000
    /// The largest number of records that one call verifies.
    package static let recordsPerVerification = 50_000

    /// The records that match the filter: newest first, starting before the sequence number `cursor`; or oldest first,
    /// starting after `cursor`.
    package func auditRecords(
        _ filter: AuditFilter, from cursor: Int?, oldestFirst: Bool, limit: Int
    ) async throws -> [AuditRecord] {
        try await records.read {
            try $0.auditRecords(filter, from: cursor, oldestFirst: oldestFirst, limit: limit)
        }
    }

    /// Verifies at most ``recordsPerVerification`` records of the chain. Does not block writes.
    ///
    /// - Parameters:
    ///   - sequence: the sequence number of the first record to verify: 1, or ``AuditVerification/next`` of an earlier
    ///     call.
    ///   - externalHead: an audit head that was stored on another machine. Its hash is compared with the hash of the
    ///     record that has the same sequence number.
    package func verifyAudit(
        from sequence: Int = 1, against externalHead: AuditHead? = nil
    ) async throws -> AuditVerification {
        var examination = try await examination(from: sequence)
        var head: AuditHead?
        var isAtEnd = false
        while !isAtEnd, examination.examined < Self.recordsPerVerification {
            try Task.checkCancellation()
            let next = examination.next
            let (segment, lastHead) = try await records.read { reading in
                (try reading.auditSegment(from: next, limit: Self.recordsPerRead), try reading.auditHead())
            }
            for link in segment.links { examination.examine(link) }
            head = lastHead
            isAtEnd = segment.links.count < Self.recordsPerRead
            // The store counts the records that it has written, so missing records at the end are found too.
            if isAtEnd { examination.finish(highestAssigned: segment.highestAssigned) }
        }
        examination.markReorderedRecords()
        var breaks = examination.breaks
        // One break is enough for `status`, because the finding says to run 'audit verify' for the full list.
        if let first = breaks.first { findings.note(first) }
        if let externalHead, let found = try await difference(from: externalHead) { breaks.insert(found, at: 0) }
        return AuditVerification(
            examined: examination.examined,
            // `examination.breakCount` does not include the difference from `externalHead`.
            breakCount: examination.breakCount + breaks.count - examination.breaks.count,
            breaks: breaks, head: head, next: isAtEnd ? nil : examination.next)
    }

    /// Compares the chain with a head that was stored on another machine.
    ///
    /// - Returns: nil if the record with the head's sequence number has the head's hash.
    package func difference(from externalHead: AuditHead) async throws -> AuditBreak? {
        let segment = try await records.read { try $0.auditSegment(from: externalHead.sequence, limit: 1) }
        return AuditBreak.comparing(
            externalHead, with: segment.links.first { $0.sequence == externalHead.sequence })
    }

    /// The sequence number and hash of the chain's last record; nil for an empty chain.
    package func head() async throws -> AuditHead? { try await records.read { try $0.auditHead() } }

    /// Raises an event with the audit head, so that webhooks send the head to another machine. Does nothing if an event
    /// already reports this head, for example an event of another daemon on the same database.
    package func reportHead() async throws {
        guard try await records.read({ try Self.unreportedHead(in: $0) }) != nil else { return }
        let now = clock.now
        try await records.write { transaction in
            guard let head = try Self.unreportedHead(in: transaction) else { return }
            try transaction.setDaemonValue(Self.reportedHeadValueName, "\(head)")
            try transaction.append(
                Event(
                    .auditHead, .notice, at: now,
                    detail:
                        "\(head) is the audit head: store it on another machine; 'audit verify --head \(head)' later shows whether records up to it were changed"
                ))
        }
    }

    private static func unreportedHead(in reading: any AuditReading & DaemonStateReading) throws -> AuditHead? {
        let head = try reading.auditHead()
        return try reading.daemonValue(reportedHeadValueName) == head?.description ? nil : head
    }

    /// An examination that starts at the record `sequence`. If the record before `sequence` is readable, the
    /// examination also checks that the record `sequence` contains the earlier record's hash.
    private func examination(from sequence: Int) async throws -> AuditExamination {
        guard sequence > 1 else { return AuditExamination() }
        let before = try await records.read { try $0.auditSegment(from: sequence - 1, limit: 1) }
        guard case .record(let record) = before.links.first, record.sequence == sequence - 1 else {
            return AuditExamination(from: sequence, after: nil)
        }
        return AuditExamination(from: sequence, after: record.hash)
    }
}
