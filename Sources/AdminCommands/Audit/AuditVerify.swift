import ArgumentParser
import FoundationEssentials
import MerchantKeyClient
import WireAPI

struct AuditVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Prove that no audit record was edited, removed, cut off or reordered.",
        discussion: """
            Exit status: 0 for a whole chain, 1 for a broken one. A chain that was cut off or made anew by somebody who \
            knows how shows only against a head that was kept elsewhere: the setting audit.head ships it, 'status' shows it.
            """)

    @Option(
        help: ArgumentHelp(
            "A head that was kept elsewhere, to hold against the chain: its number, a colon, its hash.",
            valueName: "head"))
    var head: String?

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard let head else { return }
        let parts = head.split(separator: ":", omittingEmptySubsequences: false)
        let isHead =
            parts.count == 2 && Int(parts[0]) ?? 0 > 0 && parts[1].count == 64 && parts[1].allSatisfy(\.isHexDigit)
        guard !isHead else { return }
        throw ValidationError("--head is '\(head)', expected a number, a colon and 64 hexadecimal digits")
    }

    func run() async throws {
        let result = try await global.withAdmin { try await verify($0) }
        let json = try JSONEncoder().encode(result)
        try global.printer.show(json) { result.blocks }
        guard result.intact else {
            throw CommandFailure(.refused, "the audit chain is broken in \(result.breakCount) places, see above")
        }
    }

    private func verify(_ admin: AdminClient) async throws -> AuditVerdict {
        var verdict = AuditVerdict()
        var cursor: String?
        repeat {
            let piece = try await admin.verifyAudit(against: cursor == nil ? head : nil, from: cursor)
            verdict.add(piece)
            cursor = piece.nextCursor
            if cursor != nil, StandardStream.error.isTerminal {
                StandardStream.error.write("\r\(verdict.records) of \(verdict.head?.sequence ?? 0) records")
            }
        } while cursor != nil
        if StandardStream.error.isTerminal { StandardStream.error.write("\r\u{1B}[K") }
        return verdict
    }
}

/// The pieces' findings put together.
private struct AuditVerdict: Encodable {
    private(set) var intact = true
    private(set) var records = 0
    private(set) var breakCount = 0
    private(set) var breaks: [AuditBreakDocument] = []
    private(set) var head: AuditHeadDocument?

    mutating func add(_ piece: AuditVerificationDocument) {
        records += piece.examined
        breakCount += piece.breakCount
        breaks += piece.breaks.prefix(max(0, 100 - breaks.count))
        head = piece.head ?? head
        intact = breakCount == 0
    }

    var blocks: [Block] {
        let record = Block.record([
            ("chain", intact ? Cell("whole", .good) : Cell("broken", .critical)),
            ("records", Cell("\(records)")),
            ("head", head.map { Cell("\($0.sequence):\($0.hash)") }),
        ])
        guard !intact else { return [record] }
        return [
            record,
            .table(
                headings: ["KIND", "RECORD", "FINDING"],
                rows: breaks.map { [Cell($0.kind, .critical), Cell("\($0.sequence)"), Cell($0.detail)] }),
        ]
    }
}
