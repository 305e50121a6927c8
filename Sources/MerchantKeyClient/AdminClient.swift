import FoundationEssentials
import NIOHTTP1
package import WireAPI

/// A typed client of the admin socket. Its calls are in extensions, one file for each resource.
///
/// It keeps connections open. Call ``shutdown()`` when done, or use ``with(socketPath:connections:_:)``.
package final class AdminClient: Sendable {
    let connection: SocketConnection

    /// - Parameter connections: how many calls can run at the same time. Further calls wait.
    package init(socketPath: String, connections: Int = 8) {
        connection = SocketConnection(socketPath: socketPath, connections: connections)
    }

    package func shutdown() async { await connection.shutdown() }

    /// Runs `body` with a client and shuts the client down afterwards, also if `body` throws.
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

    /// Sends a `POST` request with a JSON body. A subcommand may call this directly instead of adding a method for its
    /// route.
    package func post<Document: Decodable & Sendable>(
        _ path: String, _ body: some RequestBody, idempotencyKey: String? = nil
    ) async throws(ClientError) -> Response<Document> {
        try await connection.fetch(
            SocketCall(method: .POST, path: path, body: try .encoded(body), idempotencyKey: idempotencyKey))
    }

    /// Requests one page after the other until the list ends or `most` items were received.
    ///
    /// - Parameter page: the number of items in a page; smaller for large items.
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
            let page: Response<Page<Item>> = try await connection.fetch(call)
            items += page.document.items
            pages.append(page.json)
            guard let next = page.document.nextCursor else {
                return Listing(items: items, pages: pages, hasMore: false)
            }
            guard items.count < most else { return Listing(items: items, pages: pages, hasMore: true) }
            // Such a page would make this loop endless.
            guard next != cursor, !page.document.items.isEmpty else {
                throw .protocolViolation(
                    "a page has no items or repeats its own cursor, expected items and a new cursor")
            }
            cursor = next
        }
    }
}

extension SocketCall.Body {
    static func encoded(_ body: some Encodable) throws(ClientError) -> SocketCall.Body {
        let encoder = JSONEncoder()
        // Equal requests must be equal bytes, because the daemon compares the bodies of requests with the same
        // Idempotency-Key.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return .json(try encoder.encode(body))
        } catch {
            throw .malformed("the request can't be encoded as JSON")
        }
    }
}
