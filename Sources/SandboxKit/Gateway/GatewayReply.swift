import FoundationEssentials
import NIOHTTP1

/// A response to a client, and how it is delivered.
struct GatewayReply: Sendable {
    enum Delivery: Sendable {
        /// The whole response is sent.
        case complete
        /// The whole response is sent: the body one byte at a time, with this pause before each byte.
        case trickle(Duration)
        /// Nothing is sent, and the connection is reset.
        case reset
        /// Nothing is sent, and the connection is closed.
        case close
        /// Nothing is sent, and the connection stays open.
        case hang
    }

    var status: HTTPResponseStatus
    var headers: HTTPHeaders = [:]
    var body: [UInt8] = []
    var delivery = Delivery.complete
    var delay: Duration = .zero

    /// Status 200 with an empty body, such as Apple's response to a successful registration.
    static let empty = GatewayReply(status: .ok)

    static func json(_ status: HTTPResponseStatus, _ document: some Encodable) -> GatewayReply {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // The documents contain only strings, numbers and booleans, so encoding them cannot fail.
        let body = (try? encoder.encode(document)) ?? Data()
        return GatewayReply(status: status, headers: ["Content-Type": "application/json"], body: Array(body))
    }

    /// Returns a response whose body is JSON text.
    static func text(_ status: HTTPResponseStatus, _ json: [UInt8]) -> GatewayReply {
        GatewayReply(status: status, headers: ["Content-Type": "application/json"], body: json)
    }

    /// Returns an error in Apple's format, in which `statusCode` is a string.
    ///
    /// - Parameter details: the reason of the error, for the developer of the client. The reason is sent in the header
    ///   `x-apay-service-response-details`, which at Apple contains less detail.
    static func error(_ code: Int, _ message: String, details: String? = nil) -> GatewayReply {
        var reply = json(.init(statusCode: code), ["statusMessage": message, "statusCode": String(code)])
        if let details { reply.headers.add(name: "x-apay-service-response-details", value: details) }
        return reply
    }

    /// Returns the response that Apple sends to an invalid request for a registration or a session: status 400.
    static func malformed(_ details: String) -> GatewayReply {
        error(400, "Payment Services Exception invalid or Malformed Json Received", details: details)
    }

    static let unauthorizedMessage = "Payment Services Exception Unauthorized"
}
