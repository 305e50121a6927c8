import HTTPKit
import HTTPTypes
import Hummingbird
import HummingbirdCore
import MerchantCore
import MerchantOperations
import NIOCore
import RESTKit
import ServerKit
import Tracing
import Vocabulary

/// Receives Apple's notifications of merchant tokens. Responds with 200 as soon as the notification is on stable storage.
///
/// Apple does not authenticate these requests, so everyone can send them. They have no session, and limits of their own.
struct TokenNotificationResponder: Sendable {
    private let intake: TokenNotificationIntake
    private let policy: TokenNotificationPolicy
    private let rates: RequestRates
    private let reporter: RequestReporter
    private let firstRoute: Int

    /// - Parameter firstRoute: the index of the first of ``TokenNotificationRoute/names`` among the routes of the
    ///   reporter.
    init(
        intake: TokenNotificationIntake, policy: TokenNotificationPolicy, reporter: RequestReporter, firstRoute: Int
    ) {
        self.intake = intake
        self.policy = policy
        rates = RequestRates(policy.rates)
        self.reporter = reporter
        self.firstRoute = firstRoute
    }

    /// Whether the target begins with the prefix of this responder.
    func serves(_ target: String) -> Bool {
        let path = RequestTarget(target).path
        return path == policy.prefix.text || path.hasPrefix("\(policy.prefix)/")
    }

    /// - Parameter address: the address of the client, also behind a trusted proxy.
    func respond(
        to request: HummingbirdCore.Request, from address: RemoteAddress, context: RESTContext
    ) async throws -> Response {
        let start = NIODeadline.now()
        let target = RequestTarget(request.head.path ?? "")
        let isPermitted = request.method == .get || request.method == .head
        let route = TokenNotificationRoute(path: target.path, prefix: policy.prefix)
        let counted = isPermitted ? route?.index : nil
        let name = counted.map { "GET \(TokenNotificationRoute.names[$0].path)" }
        var response: Response
        do {
            response = try await withSpan(name ?? "other", context: .request(context.trace), ofKind: .server) { _ in
                try count(address)
                guard let route else { throw MerchantError.noRoute }
                guard isPermitted else { throw HTTPFault.methodNotAllowed(allow: "GET, HEAD") }
                try admit(address)
                return try await receive(route, request, target, from: address, context)
            }
        } catch let error as BrokenConnection {
            // A response cannot be sent. The error closes the connection.
            throw error.cause
        } catch {
            response = reporter.problem(error, name, context)
        }
        response.headers.setIdentifiers(of: context)
        response.headers[.cacheControl] = "no-store"
        for field in PortalHeaders.all { response.headers.append(field) }
        reporter.record(counted.map { firstRoute + $0 }, response, since: start, context)
        if response.status == .tooManyRequests, let delay = rates.delay(ofRefusalFor: address) {
            // Throws only if the request was cancelled. The refusal is then sent at once.
            try? await Task.sleep(for: delay)
        }
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// - Throws: `tooManyRequests`.
    private func count(_ address: RemoteAddress) throws(MerchantError) {
        if let seconds = rates.count(address: address) {
            intake.countRefusal(.rate)
            throw MerchantError(
                .tooManyRequests,
                "too many notifications from this address: send the next one in \(seconds.counted("second"))",
                retryAfter: seconds)
        }
    }

    /// - Throws: `forbidden` for an address that is not one of Apple's.
    private func admit(_ address: RemoteAddress) throws(MerchantError) {
        guard policy.accepts(address) else {
            intake.countRefusal(.source)
            throw MerchantError(
                .forbidden,
                "notifications are accepted only from Apple's addresses; the setting 'merchant-tokens.sources' names them"
            )
        }
    }

    private func receive(
        _ route: TokenNotificationRoute, _ request: HummingbirdCore.Request, _ target: RequestTarget,
        from address: RemoteAddress, _ context: RESTContext
    ) async throws -> Response {
        // The query is ignored, so it is not passed on. A body is refused.
        _ = try await RequestInput(query: [], maximumBodyBytes: 0).read(
            request, RequestTarget(String(target.path)), context)
        _ = try await intake.receive(route.event, secret: route.secret, from: address.block.description)
        return Response(status: .ok)
    }
}
