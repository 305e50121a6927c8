import HTTPKit
import HTTPTypes
import MerchantCore
import MerchantOperations
import RESTKit
import ServerKit
import ServiceLifecycle
import Vocabulary
import WireAPI

extension AdminRoutes {
    static let events: [AdminRoute] = [
        .reads(
            "/v1/events", scope: .checkedByHandler,
            query: ["after", "cursor", "newest", "limit", "merchant", "kind", "severity", "wait"],
            AdminHandlers.listEvents),
        .changes(.post, "/v1/events/redeliver", logMessage: "parked events sent again", AdminHandlers.redeliverEvents),
    ]
}

extension AdminHandlers {
    /// Lists events, sorted by sequence number. A caller whose permit is limited to some merchants gets only the events
    /// of those merchants.
    func listEvents(_ call: RESTCall) async throws -> RESTResponse {
        // One more event than the page may contain shows whether there is a next page.
        var query = EventQuery(try Self.selection(call), limit: try call.limit() + 1)
        query.merchants = try Self.merchants(call)
        query.kind = try call.query.value("kind")
        query.severity = try call.query.value("severity")
        let limit = query.limit - 1
        if query.selection == .newest {
            // There is no page after the newest events, so the additional event is not needed.
            query.limit = limit
            let found = try await operations.events.events(query)
            return try RESTResponse(Page(items: found.map(EventDocument.init), nextCursor: nil))
        }
        let wait = try Self.wait(call)
        // A shutdown of the daemon ends the wait, and the response is sent at once. The client can repeat the request
        // after the restart.
        let found = try await cancelWhenGracefulShutdown { [query, operations] in
            try await operations.events.events(query, waitingUpTo: wait)
        }
        return try RESTResponse(Page(found, limit: limit, document: EventDocument.init) { String($0.sequence) })
    }

    func redeliverEvents(_ call: RESTCall) async throws -> RESTResponse {
        let body = try call.read(orEmpty: RedeliverEventsRequest())
        let count = try await operations.events.redeliver(body.sequence, to: body.webhook, for: call.request)
        return try RESTResponse(RedeliveredEventsDocument(redelivered: count))
    }

    /// Which events the query selects: with `newest=true` the newest events, with `after` or `cursor` the events after
    /// that sequence number, otherwise all events.
    private static func selection(_ call: RESTCall) throws(MerchantError) -> EventQuery.Selection {
        let startParameters = ["after", "cursor", "newest"].filter { call.query[$0] != nil }
        guard startParameters.count <= 1 else {
            throw MerchantError(
                .malformed,
                "\(startParameters.map { "'\($0)'" }.joined(separator: " and ")) exclude each other; send only one"
            )
        }
        if try call.query.flag("newest") { return .newest }
        guard let name = startParameters.first, name != "newest", let text = call.query[name] else { return .after(0) }
        guard let sequence = Int(text), sequence >= 0 else {
            throw MerchantError(.malformed, "'\(name)' is invalid, expected the sequence number of an event")
        }
        return .after(sequence)
    }

    /// How long the daemon waits for an event before it responds, if no event matches yet.
    private static func wait(_ call: RESTCall) throws(MerchantError) -> Duration {
        let longest = Int(EventOperations.longestEventWait.components.seconds)
        let seconds = try call.query.integer("wait", in: 0...longest, expectation: "0 to \(longest) seconds")
        return .seconds(seconds ?? 0)
    }

    /// - Returns: the merchants whose events the response may contain; nil for every merchant.
    private static func merchants(_ call: RESTCall) throws(MerchantError) -> Set<MerchantIdentifier>? {
        if let merchant = try call.query.value("merchant", as: MerchantIdentifier.self) {
            try call.peer.require(.read, for: merchant)
            return [merchant]
        }
        return call.grants.allowsEveryMerchant(.read) ? nil : call.grants.merchants(.read)
    }
}
