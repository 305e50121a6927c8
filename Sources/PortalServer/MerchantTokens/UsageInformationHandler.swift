import FoundationEssentials
import HTTPTypes
import Hummingbird
import HummingbirdCore
import MerchantCore
import MerchantOperations
import NIOCore
import RESTKit
import ServerKit
import Vocabulary

/// Gives a device the usage information of a merchant token.
struct UsageInformationHandler: MerchantTokenHandler {
    /// The scheme of the header `Authorization`, as Apple specifies it.
    static let scheme = "ApplePayMerchantTokenUsageInformation"
    /// In bytes.
    static let maximumTokenLength = 1024

    private let operations: UsageInformationOperations
    private let rates: RequestRates

    /// - Parameter rates: the portal's rate limits. Only the limits per client address are used.
    init(_ operations: UsageInformationOperations, rates: RequestRates.Limits) {
        self.operations = operations
        self.rates = RequestRates(rates)
    }

    func countRequest(from address: RemoteAddress) throws(MerchantError) {
        if let seconds = rates.count(address: address) { throw Self.tooMany("requests", seconds) }
    }

    /// Counts requests with wrong credentials, as ``PortalAuthentication`` does. Above the limit, such requests get 429
    /// instead of 401. Requests with valid credentials still succeed.
    private func countFailure(of address: RemoteAddress) throws(MerchantError) {
        if let seconds = rates.waitAfterFailedAuthentications(of: address) {
            throw Self.tooMany("requests with wrong credentials", seconds)
        }
        rates.countFailedAuthentication(of: address)
    }

    private static func tooMany(_ requests: String, _ seconds: Int) -> MerchantError {
        MerchantError(
            .tooManyRequests,
            "too many \(requests) from this address: send the next one in \(seconds.counted("second"))",
            retryAfter: seconds)
    }

    func delayOfRefusal(for address: RemoteAddress) -> Duration? { rates.delay(ofRefusalFor: address) }

    func respond(
        to route: MerchantTokenRoute, _ request: HummingbirdCore.Request, from address: RemoteAddress,
        _ context: RESTContext, checkBody: () async throws -> Void
    ) async throws -> Response {
        guard case .usageInformation(let identifier) = route else { throw MerchantError.noRoute }
        try await checkBody()
        do {
            guard let token = Self.token(in: request.headers) else { throw MerchantError.usageInformationNotAuthorized }
            let information = try await operations.usageInformation(
                of: identifier, authenticationToken: token, requestId: context.requestId)
            let body = try JSONEncoder().encode(information)
            return Response(
                status: .ok, headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(bytes: body)))
        } catch let error as MerchantError where error.code == .unauthorized {
            try countFailure(of: address)
            throw ErrorWithHeaders(error, headers: [.wwwAuthenticate: Self.scheme])
        }
    }

    /// - Returns: the token; nil if the header is missing, repeated or malformed, or has another scheme.
    static func token(in headers: HTTPFields) -> String? {
        let values = headers[values: .authorization]
        guard values.count == 1 else { return nil }
        let parts = values[0].split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == scheme.lowercased(),
            (1...maximumTokenLength).contains(parts[1].utf8.count),
            parts[1].utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return String(parts[1])
    }
}
