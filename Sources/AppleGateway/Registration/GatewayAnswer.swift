import Foundation
import FoundationNetworking
import MerchantCore

/// One answer of Apple's, read as its reference says.
struct GatewayAnswer {
    let operation: GatewayOperation
    let status: Int
    let body: Data
    private let response: HTTPURLResponse
    /// What was shown for it in TLS.
    private let identity: ClientIdentity

    init(_ operation: GatewayOperation, _ response: HTTPURLResponse, _ body: Data, to identity: ClientIdentity) {
        self.operation = operation
        self.response = response
        self.body = body
        self.identity = identity
        status = response.statusCode
    }

    /// 200, documented as empty. What is neither empty nor JSON did not come from Apple's gateway, or is damaged.
    func requireDone() throws(GatewayError) {
        guard status == 200 else { throw failure }
        guard body.isEmpty || (try? JSONSerialization.jsonObject(with: body)) != nil else {
            throw unexpected("found status 200 with \(body.count) bytes that are not JSON, expected an empty body")
        }
    }

    /// - Returns: nil for a merchant that Apple does not know, which it answers with 400.
    func details(of partner: String) throws(GatewayError) -> GatewayDetails? {
        guard status == 200 else {
            if status == 400, !namesCertificate { return nil }
            throw failure
        }
        guard !body.isEmpty else { throw unexpected("found an empty body, expected MerchantDetails") }
        let found: MerchantDetails
        do {
            found = try GatewayJSON.decode(MerchantDetails.self, from: body)
        } catch DecodingError.keyNotFound(let key, _) {
            throw unexpected("found no field '\(key.stringValue)', expected MerchantDetails")
        } catch {
            throw unexpected("found \(body.count) bytes that are not MerchantDetails in JSON")
        }
        if let echo = found.partnerInternalMerchantIdentifier, echo != partner {
            throw unexpected("found the details of '\(printable(echo, limit: 64))', expected those of another merchant")
        }
        return GatewayDetails(
            partnerInternalMerchantIdentifier: partner, partnerMerchantName: found.partnerMerchantName,
            domainNames: found.domainNames, encryptTo: found.encryptTo)
    }

    /// Seconds, or a date, of which the time from now on counts. Source: RFC 9110 section 10.2.3.
    var retryAfter: Int? {
        guard let text = response.value(forHTTPHeaderField: "Retry-After") else { return nil }
        if let seconds = Int(text) { return min(max(0, seconds), 86_400) }
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return format.date(from: text).map { min(max(0, Int($0.timeIntervalSinceNow.rounded(.up))), 86_400) }
    }

    private var failure: GatewayError {
        switch status {
        // A front end that wants a client certificate says so with a 400 of its own.
        case 400 where namesCertificate:
            error(.unauthorized, "the gateway saw no client certificate that it accepts (\(identity.words))")
        case 400: error(.refused, "Apple refused the request as malformed or unknown")
        case 401, 403: error(.unauthorized, "Apple gives the client certificate no permission (\(identity.words))")
        case 417: error(.platformNotRegistered, "the platform is not registered with Apple Developer")
        case 429: error(.rateLimited, "Apple limits the rate of requests")
        case 500...599: error(.failedAtApple, "Apple failed", mayHaveActed: operation.changes)
        case 300...399:
            unexpected(
                "found a redirect to \(printable(response.value(forHTTPHeaderField: "Location") ?? "nowhere")), expected none"
            )
        default: unexpected("found status \(status), expected 200")
        }
    }

    private func unexpected(_ what: String) -> GatewayError {
        error(.unexpectedAnswer, what, mayHaveActed: operation.changes)
    }

    private func error(_ kind: GatewayError.Kind, _ what: String, mayHaveActed: Bool = false) -> GatewayError {
        var detail = "\(what) (status \(status)"
        if let message = document?.message, !message.isEmpty { detail += ", '\(printable(message))'" }
        if let code = document?.statusCode?.text, code != String(status) { detail += ", statusCode \(printable(code))" }
        if let more = response.value(forHTTPHeaderField: "x-apay-service-response-details") {
            detail += ", response details '\(printable(more))'"
        }
        return GatewayError(
            kind, detail + ")", status: status,
            correlationIdentifier: response.value(forHTTPHeaderField: "x-keystone-correlationid")
                .map { printable($0, limit: 128) },
            retryAfter: retryAfter, mayHaveActed: mayHaveActed)
    }

    private var document: ErrorDocument? { try? GatewayJSON.decode(ErrorDocument.self, from: body) }

    /// Whether a body that is not Apple's JSON speaks of certificates.
    private var namesCertificate: Bool {
        document == nil && String(decoding: body.prefix(4096), as: UTF8.self).lowercased().contains("certificate")
    }
}

/// The three calls.
enum GatewayOperation: String {
    case registerMerchant, unregisterMerchant, getDetails

    var changes: Bool { self != .getDetails }

    /// Whether a call that may have acted can be made again: registering adds what is there already, but a second
    /// unregistering is refused when the first took the last domain, and that refusal looks like any other.
    var isRepeatable: Bool { self != .unregisterMerchant }
}
