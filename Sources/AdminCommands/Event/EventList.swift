import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct EventList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List events, oldest first.",
        discussion: """
            With --follow it goes on until it is stopped, also while the daemon restarts: no event is missed and none \
            comes twice. As JSON it is then one event a line.
            """)

    @Flag(name: .shortAndLong, help: "Wait for more, and print them as they come.")
    var follow = false

    @Option(
        help: ArgumentHelp("Only of this merchant.", valueName: "id"), transform: MerchantArgument.parse)
    var merchant: MerchantIdentifier?

    @Option(help: "Only of this kind, such as keyRevoked or certificateExpired.")
    var kind: String?

    @Option(help: "Only of this severity: notice, warning or critical.")
    var severity: SeverityArgument?

    @Option(help: ArgumentHelp("Only the newest so many; 1 to 1000.", valueName: "n"))
    var last = 100

    @Option(
        help: ArgumentHelp("In place of the newest, every one after the event with this number.", valueName: "number"))
    var after: Int?

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard (1...1000).contains(last) else { throw ValidationError("--last is \(last), expected 1 to 1000") }
        guard after ?? 0 >= 0 else { throw ValidationError("--after is \(after ?? 0), expected 0 or more") }
    }

    func run() async throws {
        let filter = EventFilter(merchant: merchant, kind: kind, severity: severity?.rawValue)
        try await global.withAdmin { admin in
            if follow { return try await EventStream(filter, admin, global.printer).run(after: after, orLast: last) }
            if let after {
                let events = try await admin.events(filter, after: after, most: .max)
                return try global.printer.show(events, orTable: EventDocument.table)
            }
            let newest = try await admin.newestEvents(filter, count: last)
            try global.printer.show(newest.json) { [EventDocument.table(newest.document.items)] }
        }
    }
}

/// How grave an event is, on the command line.
enum SeverityArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case notice, warning, critical
}

extension EventDocument {
    fileprivate static func table(_ events: [EventDocument]) -> Block {
        .table(
            headings: ["NUMBER", "TIME (UTC)", "SEVERITY", "KIND", "MERCHANT", "PUBLIC KEY HASH", "DETAIL"],
            rows: events.map(\.cells))
    }

    var cells: [Cell] {
        [
            Cell("\(sequence)"), Cell(time: occurredAt), Cell(severity: severity), Cell(kind),
            Cell(merchantIdentifier), Cell(publicKeyHash), Cell(detail),
        ]
    }
}
