import Foundation
import FoundationNetworking
import MerchantCore
import OutboundHTTP
import Vocabulary

/// One response of Apple's gateway, interpreted as Apple's reference documents it.
struct GatewayResponse {
    let operation: GatewayOperation
    let status: Int
    let body: Data
    private let response: HTTPURLResponse
    /// The identity that the request presented in TLS.
    private let identity: ClientIdentity
    private let receivedAt: Timestamp

    init(
        _ operation: GatewayOperation, _ response: HTTPURLResponse, _ body: Data, for identity: ClientIdentity,
        at receivedAt: Timestamp
    ) {
        self.operation = operation
        self.response = response
        self.body = body
        self.identity = identity
        self.receivedAt = receivedAt
        status = response.statusCode
    }

    /// - Throws: an error if the status is not 200, or if the body is neither empty nor JSON. Apple documents an empty
    ///   body. A body that is not JSON did not come from Apple's gateway, or is damaged.
    func requireSuccess() throws(GatewayError) {
        guard status == 200 else { throw failure }
        guard body.isEmpty || (try? JSONSerialization.jsonObject(with: body)) != nil else {
            throw unexpected(
                "the response has \(body.count.counted("byte that is", "bytes that are")) not JSON, expected an empty body"
            )
        }
    }

    /// The error that the response reports; nil for a success. For `getDetails`, a merchant that Apple does not know is
    /// a success.
    var reportedFailure: GatewayError? {
        if operation == .getDetails, status == 400, !mentionsCertificate { return nil }
        do throws(GatewayError) {
            try requireSuccess()
            return nil
        } catch { return error }
    }

    /// Reads the response to `getDetails`.
    ///
    /// - Returns: nil for a merchant that Apple does not know. Apple reports this with status 400.
    func details(of partner: String) throws(GatewayError) -> GatewayDetails? {
        guard status == 200 else {
            // A page about certificates is from a proxy, not from Apple: see `failure`.
            if status == 400, !mentionsCertificate { return nil }
            throw failure
        }
        guard !body.isEmpty else { throw unexpected("the response is empty, expected MerchantDetails") }
        let found: MerchantDetails
        do {
            found = try GatewayJSON.decode(MerchantDetails.self, from: body)
        } catch DecodingError.keyNotFound(let key, _) {
            throw unexpected("the response has no field '\(key.stringValue)', expected MerchantDetails")
        } catch {
            throw unexpected(
                "the response has \(body.count.counted("byte that is", "bytes that are")) not MerchantDetails in JSON")
        }
        if let echo = found.partnerInternalMerchantIdentifier, echo != partner {
            throw unexpected(
                "the response has the details of '\(echo.printableASCII(limit: 64))', which is not the merchant of the request"
            )
        }
        return GatewayDetails(
            partnerInternalMerchantIdentifier: partner, partnerMerchantName: found.partnerMerchantName,
            domainNames: found.domainNames, encryptTo: found.encryptTo)
    }

    var retryAfter: Duration? {
        response.value(forHTTPHeaderField: "Retry-After").flatMap { RetryAfter.pause($0, now: receivedAt.date) }
    }

    private var failure: GatewayError {
        switch status {
        // A proxy that received no client certificate responds with status 400 too, and with a page of its own.
        case 400 where mentionsCertificate:
            error(.unauthorized, "the gateway received no client certificate that it accepts (\(identity.summary))")
        case 400: error(.refused, "Apple refused the request: it is malformed, or the merchant is not registered")
        case 401, 403: error(.unauthorized, "Apple does not authorize the client certificate (\(identity.summary))")
        case 417: error(.platformNotRegistered, "the platform is not registered with Apple Developer")
        case 429: error(.rateLimited, "Apple limits the rate of requests")
        case 500...599: error(.failedAtApple, "Apple's server failed", mayHaveActed: operation.changesRegistration)
        case 300...399:
            unexpected(
                "the server redirects to \((response.value(forHTTPHeaderField: "Location") ?? "nowhere").printableASCII()), expected a response without a redirect"
            )
        default: unexpected("the status is \(status), expected 200")
        }
    }

    private func unexpected(_ what: String) -> GatewayError {
        error(.unexpectedResponse, what, mayHaveActed: operation.changesRegistration)
    }

    private func error(_ kind: GatewayError.Kind, _ what: String, mayHaveActed: Bool = false) -> GatewayError {
        var detail = "\(what) (status \(status)"
        if let message = document?.message, !message.isEmpty { detail += ", '\(message.printableASCII())'" }
        if let code = document?.statusCode?.text, code != String(status) {
            detail += ", statusCode \(code.printableASCII())"
        }
        if let more = response.value(forHTTPHeaderField: "x-apay-service-response-details") {
            detail += ", response details '\(more.printableASCII())'"
        }
        return GatewayError(
            kind, detail + ")", status: status,
            correlationIdentifier: response.value(forHTTPHeaderField: "x-keystone-correlationid")
                .map { $0.printableASCII(limit: 128) },
            retryAfter: retryAfter?.roundedUpSeconds, mayHaveActed: mayHaveActed)
    }

    private var document: ErrorDocument? { try? GatewayJSON.decode(ErrorDocument.self, from: body) }

    /// Whether the body is not Apple's JSON and contains the word "certificate", as a proxy's error page does.
    private var mentionsCertificate: Bool {
        document == nil && String(decoding: body.prefix(4096), as: UTF8.self).lowercased().contains("certificate")
    }
}

/// The calls of the API.
enum GatewayOperation: String, CaseIterable {
    case registerMerchant, unregisterMerchant, getDetails

    var changesRegistration: Bool { self != .getDetails }

    /// Whether the call can be repeated after an attempt on which Apple may have acted. Registering the same domains
    /// again changes nothing. Unregistering is not repeatable: if the first call removed the last domain, Apple refuses
    /// the second one, and that refusal looks like any other.
    var isRepeatable: Bool { self != .unregisterMerchant }
}
