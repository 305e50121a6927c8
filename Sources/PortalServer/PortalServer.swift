package import HTTPKit
import HTTPTypes
import Hummingbird
import HummingbirdCore
package import Logging
package import MerchantCore
import MerchantOperations
package import MetricsKit
import NIOCore
package import RESTKit
import ServerKit
import ServiceLifecycle
package import Vocabulary
package import WireAPI

/// The HTTPS server for people at merchants, for the platform's own portal and for operators: REST under `/v1/` and
/// `/.well-known/`, and web pages. The server also receives Apple's notifications of merchant tokens and devices'
/// requests for usage information.
///
/// Its use cases (``PortalOperations``) cannot export, revoke or destroy a key. The server has its own threads, so that
/// its load does not delay the decryptors.
package struct PortalServer: Service {
    private let listener: PortalListener

    /// - Parameters:
    ///   - notifications: from where, and how often, Apple's notifications of merchant tokens are accepted.
    ///   - policy: the permits of operators, who sign in with a login of `merchantkeyctl console`.
    ///   - address: receives the address of the portal as soon as the portal listens.
    ///   - health: returns the daemon's health. It is called for each `GET /v1/health`.
    ///   - openAPI: the bytes of the OpenAPI document.
    ///   - requests: the metrics of all servers, in which this server counts its requests.
    ///   - readLimits: the limits that REST and the pages share.
    ///   - accessLog: gets a line for each response.
    ///   - now: the daemon's clock.
    /// - Throws: ``PageFault`` if a text or a template of the pages is missing or invalid.
    package init(
        settings: PortalListenerSettings, rates: RequestRates.Limits,
        notifications: TokenNotificationPolicy = TokenNotificationPolicy(), certificates: PortalCertificates,
        operations: PortalOperations, environment: Vocabulary.Environment, policy: CurrentValue<CallerPolicy>,
        address: PortalAddress, health: @escaping @Sendable () -> HealthDocument, openAPI: [UInt8],
        requests: RequestMetrics,
        readLimits: ReadLimits = ReadLimits(), accessLog: AccessLog = .off, logger: Logger,
        now: @escaping @Sendable () -> Timestamp
    ) throws {
        let authentication = PortalAuthentication(
            accesses: operations.accesses, sessions: operations.sessions, policy: policy,
            rates: RequestRates(rates), refusals: operations.refusals)
        let reporter = RequestReporter(
            problems: ProblemReporter(
                log: LimitedLog(logger), integrityFindings: operations.integrity, refusalLevel: .info,
                forbiddenLevel: .warning),
            requests: requests, server: "portal",
            routes: PortalRoutes.all.map { (method: $0.method.rawValue, path: $0.path) } + PageRoutes.all.map(\.names)
                + MerchantTokenRoute.names,
            accessLog: accessLog)
        let handlers = PortalHandlers(
            operations: operations, health: health, openAPI: ByteBuffer(bytes: openAPI), publicURL: { address.url })
        let rest = RESTRouter(
            routes: PortalRoutes.all, handlers: handlers, reporter: reporter,
            authenticate: { request, permit, context in
                try await authentication.caller(of: request, in: context, isOpen: permit == nil)
            }, headers: PortalHeaders.all, readLimits: readLimits, logger: logger
        ).buildResponder()
        let pages = try PageResponder(
            operations: operations, authentication: authentication, readLimits: readLimits, reporter: reporter,
            firstRoute: PortalRoutes.all.count, environment: environment, publicURL: { address.url }, now: now)
        let merchantTokens = MerchantTokenResponder(
            prefix: notifications.prefix,
            notifications: TokenNotificationHandler(intake: operations.tokenNotifications, policy: notifications),
            usageInformation: operations.usageInformation.map { UsageInformationHandler($0, rates: rates) },
            reporter: reporter, firstRoute: PortalRoutes.all.count + PageRoutes.all.count)
        listener = PortalListener(
            settings: settings, certificates: certificates, logger: logger, now: now,
            onListening: { address.setPort($0) },
            refuse: { fault, target, connection in
                let refusal = reporter.refusal(
                    authentication.error(for: fault, on: connection),
                    Self.connection(connection, at: connection.peerAddress, authentication, logger))
                guard let target, !Self.isForREST(target), !merchantTokens.serves(target) else { return refusal }
                return pages.page(for: refusal, of: fault, at: target)
            },
            respond: { request, writer, connection in
                let clientAddress = connection.clientAddress(of: request.headers)
                let context = RESTContext(
                    source: Self.connection(connection, at: clientAddress, authentication, logger),
                    identifiers: RequestIdentifiers(request.headers))
                let target = request.head.path ?? ""
                let response: Response
                if merchantTokens.serves(target) {
                    response = try await merchantTokens.respond(to: request, from: clientAddress, context: context)
                } else {
                    response =
                        if Self.isForREST(target) {
                            try await rest.respond(to: request, context: context)
                        } else {
                            try await pages.respond(to: request, context: context)
                        }
                    if response.status == .tooManyRequests { await authentication.delayRefusal(for: clientAddress) }
                }
                try await writer.write(response: response.head, body: response.body)
            })
    }

    /// Serves until a graceful shutdown begins. Then the server answers the requests in progress.
    package func run() async throws { try await listener.run() }

    private static func isForREST(_ target: String) -> Bool {
        target.hasPrefix("/v1/") || target.hasPrefix("/.well-known/")
    }

    private static func connection(
        _ connection: PortalConnection, at address: RemoteAddress, _ authentication: PortalAuthentication,
        _ logger: Logger
    ) -> RESTConnection {
        RESTConnection(
            peer: authentication.unidentified(at: address), channel: connection.channel,
            reservedMemory: connection.reservedMemory,
            clientCertificateFingerprint: connection.clientCertificateFingerprint, logger: logger)
    }
}

/// The header fields of the responses of the REST routes and of the paths of merchant tokens.
enum PortalHeaders {
    static let all: HTTPFields = [
        .strictTransportSecurity: "max-age=31536000", .xContentTypeOptions: "nosniff",
    ]
}
