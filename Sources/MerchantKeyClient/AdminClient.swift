import FoundationEssentials
import NIOHTTP1
package import WireAPI

/// A client of the admin socket, with one method for each request. The methods are in extensions, one file for each
/// resource, such as `AdminClient+Keys.swift`.
///
/// The client keeps connections open. Call ``shutdown()`` when done, or use ``with(socketPath:connections:_:)``.
package final class AdminClient: Sendable {
    let httpClient: SocketHTTPClient

    /// - Parameter connections: how many calls can run at the same time. Further calls wait.
    package init(socketPath: String, connections: Int = 8) {
        httpClient = SocketHTTPClient(socketPath: socketPath, connections: connections)
    }

    package func shutdown() async { await httpClient.shutdown() }

    /// Runs `body` with a client and shuts the client down afterwards, even if `body` throws.
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

    /// Sends a `POST` request with a JSON body.
    package func post<Document: Decodable & Sendable>(
        _ path: String, _ body: some RequestBody, idempotencyKey: String? = nil
    ) async throws(ClientError) -> Response<Document> {
        try await httpClient.fetch(
            SocketCall(method: .POST, path: path, body: try .encoded(body), idempotencyKey: idempotencyKey))
    }

    /// Requests one page of a list after another, until the list ends or `limit` items were received.
    ///
    /// - Parameter pageSize: the largest number of items in a page. Large items need smaller pages, because the size of
    ///   a response is limited.
    func list<Item: Codable & Sendable>(
        _ path: String, query: [(name: String, value: String)] = [], limit: Int = .max,
        pageSize: Int = Page<Item>.largestLimit
    ) async throws(ClientError) -> Listing<Item> {
        var items: [Item] = []
        var pages: [Data] = []
        var cursor: String?
        while true {
            let pageLimit = min(pageSize, limit - items.count)
            var call = SocketCall(path: path, query: query + [("limit", String(pageLimit))])
            if let cursor { call.query.append(("cursor", cursor)) }
            let page: Response<Page<Item>> = try await httpClient.fetch(call)
            items += page.document.items
            pages.append(page.json)
            guard let next = page.document.nextCursor else {
                return Listing(items: items, pages: pages, hasMore: false)
            }
            guard items.count < limit else { return Listing(items: items, pages: pages, hasMore: true) }
            // Without this check, a daemon that repeats a cursor or sends empty pages would keep this loop running
            // forever.
            guard next != cursor, !page.document.items.isEmpty else {
                throw .protocolViolation(
                    "a page that is not the last one has no items, or has the same cursor as the page before")
            }
            cursor = next
        }
    }
}

extension SocketCall.Body {
    /// A request body in JSON.
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
