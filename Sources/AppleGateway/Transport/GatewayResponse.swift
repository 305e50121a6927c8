import Foundation
import MerchantCore
import OutboundHTTP
import Vocabulary

/// One response of Apple's gateway.
struct GatewayResponse {
    let operation: GatewayOperation
    let body: Data
    private let response: OutboundResponse
    /// The identity that the request presented in TLS.
    private let identity: ClientIdentity
    private let receivedAt: Timestamp

    init(
        _ operation: GatewayOperation, _ response: OutboundResponse, for identity: ClientIdentity,
        at receivedAt: Timestamp
    ) {
        self.operation = operation
        self.response = response
        body = Data(response.body)
        self.identity = identity
        self.receivedAt = receivedAt
    }

    var status: Int { response.status }
    var bytes: [UInt8] { response.body }
    var isSuccess: Bool { (200...299).contains(status) }
    /// The number of bytes in the body, for messages: "12 bytes that are".
    var byteCount: String { bytes.count.counted("byte that is", "bytes that are") }

    /// - Throws: an error unless the status is one of `statuses` and the body is empty or JSON. Apple documents an
    ///   empty body. A body that is not JSON did not come from Apple's gateway, or is damaged.
    func requireSuccess(_ statuses: ClosedRange<Int>) throws(GatewayError) {
        guard statuses.contains(status) else { throw failure }
        guard body.isEmpty || (try? JSONSerialization.jsonObject(with: body)) != nil else {
            throw unexpected("the response has \(byteCount) not JSON, expected an empty body")
        }
    }

    var retryAfter: Duration? {
        response.header("Retry-After").flatMap { RetryAfter.pause($0, now: receivedAt.date) }
    }

    /// The error for the status of the response.
    var failure: GatewayError {
        switch (status, operation.api) {
        // A proxy that received no client certificate responds with status 400 too, and with a page of its own.
        case (400, _) where mentionsCertificate:
            error(.unauthorized, "the gateway received no client certificate that it accepts (\(identity.summary))")
        case (400, .registration):
            error(.refused, "Apple refused the request: it is malformed, or the merchant is not registered")
        case (400, .sessions): error(.refused, "Apple refused to issue a merchant session")
        case (400, .merchantTokens):
            error(.refused, "Apple refused the request: it is malformed, or the merchant token or event is unknown")
        case (401, _), (403, .registration):
            error(.unauthorized, "Apple does not authorize the client certificate (\(identity.summary))")
        case (403, .sessions), (403, .merchantTokens):
            error(.forbidden, "Apple does not permit the operation with this client certificate (\(identity.summary))")
        case (404, .merchantTokens): error(.notFound, "Apple does not know the merchant token or event")
        case (409, .merchantTokens):
            error(.conflict, "Apple refuses the operation in the token's present state")
        case (417, _): error(.platformNotRegistered, "the platform is not registered with Apple Developer")
        case (429, _): error(.rateLimited, "Apple limits the rate of requests")
        case (500...599, _): error(.failedAtApple, "Apple's server failed", mayHaveActed: operation.changesState)
        case (300...399, _):
            unexpected(
                "the server redirects to \((response.header("Location") ?? "nowhere").printableASCII()), expected a response without a redirect"
            )
        default: unexpected("the status is \(status), expected 200")
        }
    }

    func unexpected(_ what: String) -> GatewayError {
        error(.unexpectedResponse, what, mayHaveActed: operation.changesState)
    }

    private func error(_ kind: GatewayError.Kind, _ what: String, mayHaveActed: Bool = false) -> GatewayError {
        var detail = "\(what) (status \(status)"
        // The body of a success may contain a merchant session, which must not appear in a message.
        let document = isSuccess ? nil : document
        if let message = document?.message, !message.isEmpty {
            detail += ", '\(message.printableASCII(limit: Self.longestMessage))'"
        }
        if let code = document?.statusCode?.text, code != String(status) {
            detail += ", statusCode \(code.printableASCII())"
        }
        if let code = document?.subStatusCode?.text { detail += ", subStatusCode \(code.printableASCII())" }
        if let more = response.header("x-apay-service-response-details") {
            detail += ", response details '\(more.printableASCII())'"
        }
        return GatewayError(
            kind, detail + ")", status: status,
            appleMessage: document?.message.map { $0.printableASCII(limit: Self.longestClassifiedMessage) },
            correlationIdentifier: response.header("x-keystone-correlationid").map { $0.printableASCII(limit: 128) },
            retryAfter: retryAfter?.roundedUpSeconds, mayHaveActed: mayHaveActed)
    }

    /// In characters. Apple's message about a session contains two identifiers of merchants.
    private static let longestMessage = 512
    /// In characters. A partnerInternalMerchantIdentifier, which Apple's message may repeat, has up to 1,024.
    private static let longestClassifiedMessage = 4_096

    private var document: ErrorDocument? { try? GatewayJSON.decode(ErrorDocument.self, from: body) }

    /// Whether the body is not Apple's JSON and contains the word "certificate", as a proxy's error page does.
    var mentionsCertificate: Bool {
        document == nil && String(decoding: body.prefix(4096), as: UTF8.self).lowercased().contains("certificate")
    }
}
