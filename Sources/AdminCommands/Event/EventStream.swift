import MerchantKeyClient
import StrictJSON
import WireAPI

/// `event list --follow`: prints new events until the program is stopped.
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
    ///   - after: the sequence number after which the stream begins; nil to begin with the newest events.
    ///   - count: how many of the newest events are printed first, if `after` is nil.
    /// - Throws: an error if the daemon refuses a request, or can't be reached at the first request. If a later request
    ///   can't reach the daemon, the stream repeats it every second.
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

    /// The widths of the columns. They are constant, because the texts of later events are unknown. The last column
    /// needs no width.
    private static let widths = [6, 16, 8, 20, 36, 44]
}

extension ClientError {
    /// Whether a later repeat of the call can succeed.
    var isTemporary: Bool {
        switch self {
        case .unreachable: true
        case .refused(let refusal): refusal.status == 503
        case .protocolViolation, .malformed: false
        }
    }
}
