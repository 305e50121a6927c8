import FoundationEssentials
import NIOCore
import NIOHTTP1
import WireAPI

/// One request to the daemon.
struct SocketCall: Sendable {
    /// The body of a request.
    struct Body: Sendable {
        let bytes: Data
        let mediaType: String

        static func json(_ bytes: Data) -> Body { Body(bytes: bytes, mediaType: "application/json") }
        static func file(_ bytes: Data) -> Body { Body(bytes: bytes, mediaType: "application/octet-stream") }
    }

    var method: HTTPMethod = .GET
    /// The path, in which the caller has percent-encoded each segment.
    var path: String
    var query: [(name: String, value: String)] = []
    var accept = "application/json"
    var body: Body?
    var idempotencyKey: String?
    /// Statuses outside 200 to 299 with which the daemon returns the requested document instead of a problem document.
    var documentStatuses: Set<UInt> = []
    /// How long the call may take, until the whole response is received.
    var timeout: TimeAmount = .seconds(60)

    /// The path and the query for the request line.
    var uri: String {
        guard !query.isEmpty else { return path }
        return path + "?" + query.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
    }
}
