import MerchantKeyClient
import StrictJSON
import WireAPI

/// Prints new events until the program is stopped.
struct EventStream {
    /// How long one request waits for events, in seconds.
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
    ///   - count: without `after`, begins with this many of the newest events.
    /// - Throws: if the daemon refuses, or can't be reached at first. Later the stream waits for the daemon.
    func run(after: Int?, orLast count: Int) async throws {
        var position = after ?? 0
        if after == nil {
            let newest = try await admin.newestEvents(filter, count: count)
            try show(newest)
            position = newest.document.items.last?.sequence ?? 0
        }
        var isDisconnected = false
        var isFirst = after != nil
        while true {
            do {
                let page = try await admin.events(filter, after: position, waiting: isFirst ? 0 : Self.wait)
                if isDisconnected { printer.note("reconnected to the daemon") }
                isDisconnected = false
                isFirst = false
                try show(page)
                position = page.document.items.last?.sequence ?? position
            } catch let error as ClientError where !isFirst && error.isTemporary {
                if !isDisconnected { printer.note("\(error); retrying") }
                isDisconnected = true
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    private func show(_ page: Response<Page<EventDocument>>) throws {
        switch printer.form {
        case .table:
            for event in page.document.items { printer.show([.line(event.cells, widths: Self.widths)]) }
        case .json:
            guard case .object(let object) = try Printer.parse(page.json), case .array(let items) = object["items"]
            else { throw ClientError.protocolViolation("it has no 'items'") }
            for item in items { printer.line(JSONText.compact(item)) }
        }
    }

    /// Fixed, because later events are unknown. The last column needs no width.
    private static let widths = [6, 16, 8, 20, 36, 44]
}

extension ClientError {
    /// Whether a later repeat can succeed.
    var isTemporary: Bool {
        switch self {
        case .unreachable: true
        case .refused(let refusal): refusal.status == 503
        case .protocolViolation, .malformed: false
        }
    }
}
