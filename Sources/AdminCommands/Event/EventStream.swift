import MerchantKeyClient
import StrictJSON
import WireAPI

/// `event list --follow`: prints new events until the program is stopped.
struct EventStream {
    /// How long one request waits for events, in seconds.
    private static let waitSeconds = 25

    private let filter: EventFilter
    private let admin: AdminClient
    private let printer: Printer

    init(_ filter: EventFilter, _ admin: AdminClient, _ printer: Printer) {
        self.filter = filter
        self.admin = admin
        self.printer = printer
    }

    /// - Parameters:
    ///   - after: the number of the event after which the stream begins; nil to begin with the newest events.
    ///   - newestCount: how many of the newest events are printed first, if `after` is nil.
    /// - Throws: any error of the first request. If a later request fails with a temporary error, the stream repeats
    ///   the request every second; other errors end the stream.
    func run(after: Int?, newestCount: Int) async throws {
        var lastSequence = after ?? 0
        if after == nil {
            let newest = try await admin.newestEvents(filter, count: newestCount)
            try show(newest)
            lastSequence = newest.document.items.last?.sequence ?? 0
        }
        var isDisconnected = false
        // Whether no request has succeeded yet. The first request does not wait for events, and is not repeated, so
        // that an unreachable daemon is reported at once.
        var isFirst = after != nil
        while true {
            do {
                let page = try await admin.events(
                    filter, after: lastSequence, waiting: isFirst ? 0 : Self.waitSeconds)
                if isDisconnected { printer.note("reconnected to the daemon") }
                isDisconnected = false
                isFirst = false
                try show(page)
                lastSequence = page.document.items.last?.sequence ?? lastSequence
            } catch let error as ClientError where !isFirst && error.isTemporary {
                if !isDisconnected { printer.note("\(error); retrying") }
                isDisconnected = true
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    private func show(_ page: Response<Page<EventDocument>>) throws {
        switch printer.format {
        case .table:
            for event in page.document.items { printer.show([.line(event.cells, widths: Self.widths)]) }
        case .json:
            guard case .object(let object) = try Printer.parse(page.json), case .array(let items) = object["items"]
            else { throw ClientError.protocolViolation("it has no 'items'") }
            for item in items { printer.line(JSONText.compact(item)) }
        }
    }

    /// The widths of the columns, without the last one, which is not padded. The widths are fixed, because the texts
    /// of later events are unknown.
    private static let widths = [6, 16, 8, 20, 36, 44]
}

extension ClientError {
    /// Whether the same call may succeed later: the daemon can't be reached, or the response has the status 503.
    var isTemporary: Bool {
        switch self {
        case .unreachable: true
        case .refused(let refusal): refusal.status == 503
        case .notPermitted, .protocolViolation, .malformed: false
        }
    }
}
