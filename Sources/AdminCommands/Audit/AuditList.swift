import ArgumentParser
import MerchantKeyClient
import WireAPI

struct AuditList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List audit records, newest first.",
        examples: ["audit list --merchant merchant.com.example --since 7d"])

    @OptionGroup var options: AuditOptions

    @Option(help: ArgumentHelp("List at most this many records.", valueName: "n"))
    var limit = 100

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit is \(limit), expected 1 or more") }
    }

    func run() async throws {
        try await global.withAdminClient { admin in
            let records = try await admin.auditRecords(try await options.query(resolvingKeyWith: admin), limit: limit)
            try global.printer.show(records, orTable: AuditRecordDocument.table)
            if records.hasMore { global.printer.note("there are more records; raise --limit to see them") }
        }
    }
}

extension AuditRecordDocument {
    fileprivate static func table(_ records: [AuditRecordDocument]) -> Block {
        // A daemon on SQLite writes records without a node.
        let hasNodes = records.contains { $0.node != nil }
        return .table(
            headings: ["NUMBER", "TIME (UTC)", "ACTION", "CALLER"] + (hasNodes ? ["NODE"] : [])
                + ["MERCHANT", "PUBLIC KEY HASH", "CHANGE", "REASON"],
            rows: records.map {
                [Cell($0.sequence), Cell(time: $0.at), Cell($0.action), Cell($0.caller.summary)]
                    + (hasNodes ? [Cell($0.node)] : [])
                    + [Cell($0.merchantIdentifier), Cell($0.publicKeyHash), Cell($0.change), Cell($0.reason)]
            }, details: ["NODE", "PUBLIC KEY HASH", "CALLER"])
    }

    /// The state or value that the operation changed, before and after the operation; nil if it changed none.
    private var change: String? {
        switch (before, after) {
        case (nil, nil): nil
        case (let before?, let after?): "\(before) → \(after)"
        case (let before?, nil): "\(before) → -"
        case (nil, let after?): "- → \(after)"
        }
    }
}

extension AuditRecordDocument.CallerDocument {
    /// The caller's name with its program or its address. Only the file name of the program is shown; JSON output has
    /// the whole path.
    fileprivate var summary: String {
        let programName = program.map { $0.split(separator: "/").last.map(String.init) ?? $0 }
        return [name, programName ?? address].compactMap(\.self).joined(separator: ", ")
    }
}
