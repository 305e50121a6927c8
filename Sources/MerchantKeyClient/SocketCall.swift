import FoundationEssentials
import NIOCore
import NIOHTTP1

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
    var patience = SocketConnection.patience

    /// Path and query as the request line carries them.
    var uri: String {
        guard !query.isEmpty else { return path }
        return path + "?" + query.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
    }
}

/// RFC 3986 section 2.1, stricter than it must be.
enum PercentEncoding {
    /// Leaves digits and lower-case letters, encodes every other byte: the result means the same as a host, a path's
    /// part or a query's value, and nothing on the way folds its case or takes `..` out.
    static func encode(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return encoded
    }
}
