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

/// Serves the paths of merchant tokens, below ``TokenNotificationPrefix``: Apple's notifications, and the requests of
/// devices for usage information.
///
/// Apple does not authenticate its notifications, and devices have a token that only the platform's backend can check.
/// So everyone can send these requests. They belong to no session, and have rate limits of their own.
struct MerchantTokenResponder: Sendable {
    private let prefix: TokenNotificationPrefix
    private let notifications: TokenNotificationHandler
    /// nil if the settings name no hook for usage information.
    private let usageInformation: UsageInformationHandler?
    private let reporter: RequestReporter
    private let firstRoute: Int

    /// - Parameter firstRoute: the index of the first of ``MerchantTokenRoute/names`` among the routes of the reporter.
    init(
        prefix: TokenNotificationPrefix, notifications: TokenNotificationHandler,
        usageInformation: UsageInformationHandler?, reporter: RequestReporter, firstRoute: Int
    ) {
        self.prefix = prefix
        self.notifications = notifications
        self.usageInformation = usageInformation
        self.reporter = reporter
        self.firstRoute = firstRoute
    }

    /// Whether the target begins with the prefix of this responder.
    func serves(_ target: String) -> Bool {
        let path = RequestTarget(target).path
        return path == prefix.text || path.hasPrefix("\(prefix)/")
    }

    /// - Parameter address: the address of the client, also behind a trusted proxy.
    func respond(
        to request: HummingbirdCore.Request, from address: RemoteAddress, context: RESTContext
    ) async throws -> Response {
        let start = NIODeadline.now()
        let target = RequestTarget(request.head.path ?? "")
        let isPermitted = request.method == .get || request.method == .head
        let route = MerchantTokenRoute(path: target.path, prefix: prefix)
        let handler: any MerchantTokenHandler =
            if case .usageInformation = route, let usageInformation { usageInformation } else { notifications }
        let counted = isPermitted ? route?.index : nil
        let name = counted.map { "GET \(MerchantTokenRoute.names[$0].path)" }
        var response: Response
        do {
            response = try await withSpan(name ?? "other", context: .request(context.trace), ofKind: .server) { _ in
                try handler.countRequest(from: address)
                guard let route else { throw MerchantError.noRoute }
                guard isPermitted else { throw HTTPFault.methodNotAllowed(allow: "GET, HEAD") }
                // The query is ignored, so it is not passed on. A body is refused.
                return try await handler.respond(
                    to: route, request, from: address, context,
                    checkBody: {
                        _ = try await RequestInput(query: [], maximumBodyBytes: 0).read(
                            request, RequestTarget(String(target.path)), context)
                    })
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
        if response.status == .tooManyRequests, let delay = handler.delayOfRefusal(for: address) {
            // Throws only if the request was cancelled. The refusal is then sent at once.
            try? await Task.sleep(for: delay)
        }
        return request.method == .head ? response.createHeadResponse() : response
    }
}

/// Serves one kind of path of merchant tokens.
protocol MerchantTokenHandler: Sendable {
    /// Counts a request of the address.
    ///
    /// - Throws: `tooManyRequests`.
    func countRequest(from address: RemoteAddress) throws(MerchantError)

    /// The delay before a refusal is sent to an address that ignores responses with 429; nil for no delay.
    func delayOfRefusal(for address: RemoteAddress) -> Duration?

    /// - Parameter checkBody: refuses a request with a body.
    func respond(
        to route: MerchantTokenRoute, _ request: HummingbirdCore.Request, from address: RemoteAddress,
        _ context: RESTContext, checkBody: () async throws -> Void
    ) async throws -> Response
}
