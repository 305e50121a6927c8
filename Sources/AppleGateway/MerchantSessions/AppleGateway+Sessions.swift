import Foundation
package import MerchantCore
import OutboundHTTP

// Merchant sessions of Apple Pay on the Web.
extension AppleGateway: SessionGateway {
    /// In bytes. Apple's sessions have about 5,000.
    private static let largestSession = 64 * 1024

    package func requestSession(
        _ request: SessionRequest, at host: SessionHost?, as owner: IdentityOwner, within timeLimit: Duration
    ) async throws(GatewayError) -> [UInt8] {
        let body = try GatewayJSON.encode(PaymentSessionRequest(request))
        let call = GatewayCall(
            .requestSession, as: owner, settings.endpoint.paymentSession(at: host), body, Self.limits(within: timeLimit)
        )
        return try await transport.call(call) { response throws(GatewayError) in
            try response.session(limit: Self.largestSession)
        }.value
    }

    /// A call is made at most twice, and the pauses are short, because a buyer waits for the session.
    private static func limits(within timeLimit: Duration) -> GatewayCallLimits {
        var retries = RetryPolicy()
        retries.attempts = 2
        retries.backoff = Backoff(first: .milliseconds(100), longest: .milliseconds(100))
        retries.longestRetryAfter = .seconds(1)
        return GatewayCallLimits(
            call: timeLimit, attempt: timeLimit, shortestAttempt: min(.seconds(1), timeLimit / 2), retries: retries)
    }
}

extension GatewayResponse {
    /// The merchant session, unchanged. The daemon does not read its fields, because Apple defines it as opaque.
    fileprivate func session(limit: Int) throws(GatewayError) -> [UInt8] {
        guard isSuccess else { throw failure }
        guard bytes.count <= limit else {
            throw unexpected("the response has \(bytes.count) bytes, expected a merchant session of at most \(limit)")
        }
        guard (try? JSONSerialization.jsonObject(with: body)) is [String: Any] else {
            throw unexpected("the response has \(byteCount) not a JSON object, expected a merchant session")
        }
        return bytes
    }
}

/// The body of a request for a merchant session, with Apple's names of the fields.
private struct PaymentSessionRequest: Encodable {
    let merchantIdentifier: String
    let displayName: String
    let initiative: String
    let initiativeContext: String
    /// Omitted if nil.
    let domainName: String?

    init(_ request: SessionRequest) {
        merchantIdentifier = request.merchantIdentifier
        displayName = request.displayName
        initiative = request.initiative.rawValue
        initiativeContext = request.initiativeContext
        domainName = request.domainName
    }
}
