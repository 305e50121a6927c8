import FoundationEssentials
import NIOCore
import NIOHTTP1
import WireAPI

/// One request over the socket.
struct SocketCall: Sendable {
    /// The bytes of a body, and their media type.
    struct Body: Sendable {
        let bytes: Data
        let mediaType: String

        static func json(_ bytes: Data) -> Body { Body(bytes: bytes, mediaType: "application/json") }
        static func file(_ bytes: Data) -> Body { Body(bytes: bytes, mediaType: "application/octet-stream") }
    }

    var method: HTTPMethod = .GET
    /// Percent-encoded already.
    var path: String
    var query: [(name: String, value: String)] = []
    var accept = "application/json"
    var body: Body?
    var idempotencyKey: String?
    /// Statuses besides 200 to 299 whose body is the requested document, not a problem.
    var documentStatuses: Set<UInt> = []
    /// For the whole call.
    var timeout: TimeAmount = .seconds(60)

    /// Path and query as the request line carries them.
    var uri: String {
        guard !query.isEmpty else { return path }
        return path + "?" + query.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
    }
}
