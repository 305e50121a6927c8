import FoundationEssentials
import NIOHTTP1
import WireAPI

/// The admin's socket, typed. Its calls are in the extensions, one file per resource.
///
/// Keeps connections; call ``shutdown()`` when done, or use ``with(socketPath:_:)``.
package final class AdminClient: Sendable {
    let connection: SocketConnection

    /// - Parameter connections: how many calls may be on their way at the same time; more wait.
    package init(socketPath: String, connections: Int = 8) {
        connection = SocketConnection(socketPath: socketPath, connections: connections)
    }

    package func shutdown() async { await connection.shutdown() }

    /// Runs `body` with a client that is shut down afterwards, whatever happens.
    package static func with<Result>(
        socketPath: String, connections: Int = 8, _ body: (AdminClient) async throws -> Result
    ) async throws -> Result {
        let client = AdminClient(socketPath: socketPath, connections: connections)
        do {
            let result = try await body(client)
            await client.shutdown()
            return result
        } catch {
            await client.shutdown()
            throw error
        }
    }

    /// `POST` of a JSON body.
    func post<Document: Decodable & Sendable>(
        _ path: String, _ body: some RequestBody, idempotencyKey: String? = nil
    ) async throws(ClientError) -> Answer<Document> {
        try await connection.fetch(
            SocketCall(method: .POST, path: path, body: try .encoded(body), idempotencyKey: idempotencyKey))
    }

    /// Follows `nextCursor` until the list ends or `most` items are there.
    ///
    /// - Parameter page: how many items are asked for at once, at most; fewer for large ones.
    func list<Item: Codable & Sendable>(
        _ path: String, query: [(name: String, value: String)] = [], most: Int = .max,
        page largest: Int = Page<Item>.largestLimit
    ) async throws(ClientError) -> Listing<Item> {
        var items: [Item] = []
        var pages: [Data] = []
        var cursor: String?
        while true {
            let limit = min(largest, most - items.count)
            var call = SocketCall(path: path, query: query + [("limit", String(limit))])
            if let cursor { call.query.append(("cursor", cursor)) }
            let page: Answer<Page<Item>> = try await connection.fetch(call)
            items += page.document.items
            pages.append(page.json)
            guard let next = page.document.nextCursor else {
                return Listing(items: items, pages: pages, hasMore: false)
            }
            guard items.count < most else { return Listing(items: items, pages: pages, hasMore: true) }
            // Neither would ever end.
            guard next != cursor, !page.document.items.isEmpty else {
                throw .protocolViolation("found a page that leads nowhere, expected items and a new cursor")
            }
            cursor = next
        }
    }
}

extension SocketCall.Body {
    static func encoded(_ body: some Encodable) throws(ClientError) -> SocketCall.Body {
        let encoder = JSONEncoder()
        // Equal requests are equal bytes: a repeat under one Idempotency-Key is known by them.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return .json(try encoder.encode(body))
        } catch {
            throw .malformed("the request can't be written as JSON")
        }
    }
}
