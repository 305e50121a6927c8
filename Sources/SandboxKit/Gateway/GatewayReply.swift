import FoundationEssentials
import NIOHTTP1

/// What goes back to a client, and how.
struct GatewayReply: Sendable {
    enum Delivery: Sendable {
        case whole
        /// Nothing is sent: the connection is reset.
        case reset
        /// Nothing is sent: the connection ends.
        case silence
        /// Nothing is sent: the connection stays.
        case hang
    }

    var status: HTTPResponseStatus
    var headers: HTTPHeaders = [:]
    var body: [UInt8] = []
    var delivery = Delivery.whole
    var delay: Duration = .zero

    /// 200 with nothing, as Apple answers what changes something.
    static let done = GatewayReply(status: .ok)

    static func json(_ status: HTTPResponseStatus, _ document: some Encodable) -> GatewayReply {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and numbers only, which can always be written.
        let body = (try? encoder.encode(document)) ?? Data()
        return GatewayReply(status: status, headers: ["Content-Type": "application/json"], body: Array(body))
    }

    /// Apple's shape: `statusCode` is a string.
    ///
    /// - Parameter details: why, for the developer at the other end; Apple's header for it says less.
    static func error(_ code: Int, _ message: String, details: String? = nil) -> GatewayReply {
        let phrase = code == 417 ? "Expectation Failed" : ""
        var reply = json(
            phrase.isEmpty ? .init(statusCode: code) : .custom(code: UInt(code), reasonPhrase: phrase),
            ["statusMessage": message, "statusCode": String(code)])
        if let details { reply.headers.add(name: "x-apay-service-response-details", value: details) }
        return reply
    }

    static func malformed(_ details: String) -> GatewayReply {
        error(400, "Payment Services Exception invalid or Malformed Json Received", details: details)
    }

    static let unauthorizedMessage = "Payment Services Exception Unauthorized"
}
