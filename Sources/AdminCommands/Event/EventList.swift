import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct EventList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the newest events, oldest of them first.",
        discussion: """
            With --follow, the command runs until it is stopped, even if the daemon restarts. Each event is printed \
            exactly once; with --output json, one line per event.
            """,
        examples: [
            "event list --severity warning --last 20",
            "event list --follow --output json",
        ])

    @Flag(name: .shortAndLong, help: "Wait for new events and print them.")
    var follow = false

    @Option(
        help: ArgumentHelp("List only events of this merchant.", valueName: "id"), completion: .merchant,
        transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier?

    @Option(help: "List only events of this kind, such as keyRevoked or certificateExpired.")
    var kind: String?

    @Option(help: "List only events of this severity: notice, warning or critical.")
    var severity: Severity?

    @Option(help: ArgumentHelp("List this many of the newest events, 1 to 1000.", valueName: "n"))
    var last = 100

    @Option(
        help: ArgumentHelp(
            "Instead of the newest events, list all events after the event with this number.", valueName: "number"))
    var after: Int?

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard (1...1000).contains(last) else { throw ValidationError("--last is \(last), expected 1 to 1000") }
        guard after ?? 0 >= 0 else { throw ValidationError("--after is \(after ?? 0), expected 0 or more") }
    }

    private var filter: EventFilter {
        var filter = EventFilter()
        filter.merchant = merchant
        filter.kind = kind
        filter.severity = severity?.rawValue
        return filter
    }

    func run() async throws {
        let filter = filter
        try await global.withAdminClient { admin in
            if follow {
                return try await EventStream(filter, admin, global.printer).run(after: after, newestCount: last)
            }
            if let after {
                let events = try await admin.events(filter, after: after, limit: .max)
                return try global.printer.show(events, orTable: EventDocument.table)
            }
            let newest = try await admin.newestEvents(filter, count: last)
            try global.printer.show(newest.json) { [EventDocument.table(newest.document.items)] }
        }
    }
}

extension EventDocument {
    fileprivate static func table(_ events: [EventDocument]) -> Block {
        .table(
            headings: ["NUMBER", "TIME (UTC)", "SEVERITY", "KIND", "MERCHANT", "PUBLIC KEY HASH", "DETAIL"],
            rows: events.map(\.cells), details: ["PUBLIC KEY HASH", "SEVERITY"])
    }

    var cells: [Cell] {
        [
            Cell(sequence), Cell(time: occurredAt), Cell(severity: severity), Cell(kind),
            Cell(merchantIdentifier), Cell(publicKeyHash), Cell(detail),
        ]
    }
}
