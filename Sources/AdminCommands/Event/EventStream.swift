import MerchantKeyClient
import StrictJSON
import WireAPI

/// Prints events as they come, for ever.
struct EventStream {
    /// How long the daemon lets one request wait, in seconds.
    private static let wait = 25

    private let filter: EventFilter
    private let admin: AdminClient
    private let printer: Printer

    init(_ filter: EventFilter, _ admin: AdminClient, _ printer: Printer) {
        self.filter = filter
        self.admin = admin
        self.printer = printer
    }

    /// - Parameters:
    ///   - after: begins after this event.
    ///   - count: begins with so many of the newest, where there is no `after`.
    /// - Throws: where the daemon can't be reached at first, or refuses; later it is waited for.
    func run(after: Int?, orLast count: Int) async throws {
        var position = after ?? 0
        if after == nil {
            let newest = try await admin.newestEvents(filter, count: count)
            try show(newest)
            position = newest.document.items.last?.sequence ?? 0
        }
        var isAway = false
        var isFirst = after != nil
        while true {
            do {
                let page = try await admin.events(filter, after: position, waiting: isFirst ? 0 : Self.wait)
                if isAway { printer.remark("the daemon is back") }
                isAway = false
                isFirst = false
                try show(page)
                position = page.document.items.last?.sequence ?? position
            } catch let error as ClientError where !isFirst && error.mayPass {
                if !isAway { printer.remark("\(error); waiting for it") }
                isAway = true
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    private func show(_ page: Answer<Page<EventDocument>>) throws {
        switch printer.form {
        case .table:
            for event in page.document.items { printer.show([.line(event.cells, widths: Self.widths)]) }
        case .json:
            guard case .object(let object) = try Printer.parse(page.json), case .array(let items) = object["items"]
            else { throw ClientError.protocolViolation("found no 'items'") }
            for item in items { printer.line(JSONText.compact(item)) }
        }
    }

    /// Of every column but the last, which nothing follows: what is to come is not known.
    private static let widths = [6, 16, 8, 20, 36, 44]
}

extension ClientError {
    /// Whether asking again later can help.
    var mayPass: Bool {
        switch self {
        case .unreachable: true
        case .refused(let refusal): refusal.status == 503
        case .protocolViolation, .malformed: false
        }
    }
}
