import ArgumentParser
import FoundationEssentials
import MerchantKeyClient
import Vocabulary
import WireAPI

struct AuditVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Verify that no audit record was edited, removed, cut off or reordered.",
        discussion: """
            Each record contains the hash of the previous record, so that the records form a chain. Exit status: 0 if the chain \
            is intact, 1 if it is broken. An attacker who can write the database could remove the last records, or recompute \
            all hashes; --head detects this. The head is the number and hash of the last record. Save the head on another \
            machine: 'status' shows it, and the settings audit.head.file and audit.head.syslog make the daemon write it.
            """,
        examples: ["audit verify"])

    @Option(
        help: ArgumentHelp(
            "Compare the chain with a head that was saved earlier, written as NUMBER:HASH.", valueName: "head"))
    var head: String?

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard let head else { return }
        let parts = head.split(separator: ":", omittingEmptySubsequences: false)
        guard
            parts.count == 2 && Int(parts[0]) ?? 0 > 0 && parts[1].count == 64 && parts[1].allSatisfy(\.isHexDigit)
        else { throw ValidationError("--head is '\(head)', expected a number, a colon and 64 hexadecimal digits") }
    }

    func run() async throws {
        let result = try await global.withAdminClient { try await verify($0) }
        let json = try JSONEncoder().encode(result)
        try global.printer.show(json) { result.blocks }
        guard result.intact else {
            throw CommandFailure(
                .failed,
                "the audit chain is broken in \(result.breakCount.counted("place")) (at most 100 are listed above); keep a copy of the database as evidence"
            )
        }
    }

    private func verify(_ admin: AdminClient) async throws -> AuditResult {
        let showsProgress = StandardStream.error.isTerminal && !global.quiet
        var result = AuditResult()
        var cursor: String?
        repeat {
            // One comparison with the head is enough, so only the request for the first range contains the head.
            let range = try await admin.verifyAudit(against: cursor == nil ? head : nil, from: cursor)
            result.add(range)
            cursor = range.nextCursor
            if cursor != nil, showsProgress {
                StandardStream.error.write("\r\(result.records) of \((result.head?.sequence ?? 0).counted("record"))")
            }
        } while cursor != nil
        if showsProgress { StandardStream.error.write("\r\u{1B}[K") }
        return result
    }
}

/// The combined results of all ranges of the audit chain.
private struct AuditResult: Encodable {
    private(set) var intact = true
    /// How many records were verified.
    private(set) var records = 0
    private(set) var breakCount = 0
    private(set) var breaks: [AuditBreakDocument] = []
    /// The number and hash of the last record in the database.
    private(set) var head: AuditHeadDocument?

    mutating func add(_ range: AuditVerificationDocument) {
        records += range.examined
        breakCount += range.breakCount
        // Every record could be a break, so only the first 100 breaks are kept. `breakCount` counts all breaks.
        breaks += range.breaks.prefix(max(0, 100 - breaks.count))
        head = range.head ?? head
        intact = breakCount == 0
    }

    var blocks: [Block] {
        let record = Block.record([
            ("chain", intact ? Cell("intact", .good) : Cell("broken", .critical)),
            ("records", Cell(records)),
            ("head", head.map { Cell($0.description) }),
        ])
        guard !intact else { return [record] }
        return [
            record,
            .table(
                headings: ["KIND", "RECORD", "FINDING"],
                rows: breaks.map { [Cell($0.kind, .critical), Cell($0.sequence), Cell($0.detail)] }),
        ]
    }
}
