import FoundationEssentials
import NIOCore
import NIOHTTP1
import WireAPI

/// One request over the socket.
struct SocketCall: Sendable {
    /// What a body is and how it is labelled.
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
    /// Statuses besides 200 to 299 that carry the document asked for and no problem.
    var alsoAnswering: Set<UInt> = []
    /// How long the whole answer may take.
    var patience: TimeAmount = .seconds(60)

    /// Path and query as the request line carries them.
    var uri: String {
        guard !query.isEmpty else { return path }
        return path + "?" + query.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
    }
}
