import FoundationEssentials
import NIOCore
import NIOHTTP1
import WireAPI

/// One request to the daemon.
struct SocketCall: Sendable {
    /// The bytes of a request's body, and their media type.
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
    /// Statuses other than 200 to 299 whose body is the requested document and not a problem document.
    var documentStatuses: Set<UInt> = []
    /// How long the call may take.
    var timeout: TimeAmount = .seconds(60)

    /// The path and the query for the request line.
    var uri: String {
        guard !query.isEmpty else { return path }
        return path + "?" + query.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
    }
}
