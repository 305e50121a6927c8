import MerchantCore
import MerchantOperations
import ServiceLifecycle
import Vocabulary
import WireAPI

extension AdminHandlers {
    /// In order of their sequence. A caller with permits for some merchants sees those merchants' events.
    func events(_ call: AdminCall) async throws -> Answer {
        let merchant = try call.query["merchant"].map { text throws(MerchantError) in
            try MerchantIdentifier(text, named: "merchant")
        }
        var query = EventQuery(try Self.part(call), limit: try call.limit() + 1)
        query.merchants = try Self.merchants(call.grants, asked: merchant)
        query.kind = try call.query["kind"].map { text throws(MerchantError) in try .init(text, named: "kind") }
        query.severity = try call.query["severity"].map { text throws(MerchantError) in
            try .init(text, named: "severity")
        }
        let limit = query.limit - 1
        if query.part == .newest {
            query.limit = limit
            let found = try await operations.events.events(query)
            return try Answer(Page(items: found.map(EventDocument.init), nextCursor: nil))
        }
        let wait = try Self.wait(call)
        let (asked, operations) = (query, operations)
        // A daemon that stops answers at once: whoever follows asks the next one.
        let found = try await cancelWhenGracefulShutdown {
            try await operations.events.events(asked, waitingUpTo: wait)
        }
        return try Answer(Page(found, limit: limit, document: EventDocument.init) { String($0.sequence) })
    }

    func redeliverEvents(_ call: AdminCall) async throws -> Answer {
        let body = try call.read(orEmpty: RedeliverEventsRequest(sequence: nil, webhook: nil))
        let count = try await operations.events.redeliver(body.sequence, to: body.webhook, for: call.request)
        return try Answer(RedeliveredEventsDocument(redelivered: count))
    }

    private static func part(_ call: AdminCall) throws(MerchantError) -> EventQuery.Part {
        let places = ["after", "cursor", "newest"].filter { call.query[$0] != nil }
        guard places.count <= 1 else {
            throw MerchantError(
                .malformed,
                "found the query parameters \(places.map { "'\($0)'" }.joined(separator: " and ")), expected one of them"
            )
        }
        switch call.query["newest"] {
        case nil, "false": break
        case "true": return .newest
        default: throw MerchantError(.malformed, "'newest' is neither true nor false")
        }
        guard let name = places.first, name != "newest", let text = call.query[name] else { return .after(0) }
        guard let sequence = Int(text), sequence >= 0 else {
            throw MerchantError(.malformed, "'\(name)' is not acceptable, expected the sequence of an event")
        }
        return .after(sequence)
    }

    private static func wait(_ call: AdminCall) throws(MerchantError) -> Duration {
        guard let text = call.query["wait"] else { return .zero }
        let longest = EventOperations.longestEventWait.components.seconds
        guard let seconds = Int64(text), (0...longest).contains(seconds) else {
            throw MerchantError(.malformed, "'wait' is not acceptable, expected 0 to \(longest) seconds")
        }
        return .seconds(seconds)
    }

    private static func merchants(
        _ grants: [Grant], asked merchant: MerchantIdentifier?
    ) throws(MerchantError) -> Set<MerchantIdentifier>? {
        if let merchant {
            try grants.require(.read, for: merchant)
            return [merchant]
        }
        return grants.allowsEveryMerchant(.read) ? nil : grants.merchants(.read)
    }
}
