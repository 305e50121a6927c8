package import HTTPKit
import HTTPTypes
package import LocalSocket
package import Logging
package import MerchantCore
package import MerchantOperations
package import MetricsKit
import NIOCore
import RESTKit
import ServerKit
import ServiceLifecycle
package import WireAPI

/// The REST server on the issuer socket, for the servers of card issuers, whose apps add cards to Apple Wallet. The
/// server has no access to keys and merchants.
package struct IssuerServer: Service {
    private let server: RESTSocketServer

    /// - Parameters:
    ///   - socket: where the server gets its socket from. A user who may write to the socket's file may connect;
    ///     `policy` decides what the user may then do.
    ///   - refusals: counts requests that were refused for lack of a permit, until the audit records them.
    ///   - integrity: collects the faults that the daemon finds in stored data.
    ///   - health: returns the daemon's health. It is called for each `GET /v1/health`.
    ///   - openAPI: the bytes of the OpenAPI document, which `GET /v1/openapi.yaml` returns unchanged.
    ///   - requests: the metrics of all servers, in which this server counts its requests.
    ///   - accessLog: gets a line for each response.
    ///   - onListening: called as soon as clients can connect.
    package init(
        socket: SocketSource, operations: ProvisioningOperations, refusals: RefusalLog, integrity: IntegrityFindings,
        policy: CurrentValue<CallerPolicy>, health: @escaping @Sendable () -> HealthDocument, openAPI: [UInt8],
        requests: RequestMetrics, accessLog: AccessLog = .off, logger: Logger,
        onListening: @escaping @Sendable () -> Void = {}
    ) {
        let reporter = RequestReporter(
            problems: ProblemReporter(
                log: LimitedLog(logger), integrityFindings: integrity, refusalLevel: .info, forbiddenLevel: .warning),
            requests: requests, server: "issuer", routes: IssuerRoutes.all.map { ($0.method.rawValue, $0.path) },
            accessLog: accessLog)
        let handlers = IssuerHandlers(operations: operations, health: health, openAPI: ByteBuffer(bytes: openAPI))
        server = RESTSocketServer(
            name: "issuer", socket: socket,
            responder: RESTRouter(
                routes: IssuerRoutes.all, of: .issuer, handlers: handlers, reporter: reporter, logger: logger
            ).buildResponder(),
            reporter: reporter, policy: policy, refusals: refusals,
            limits: RESTSocketLimits(bodyBytes: BodyLimit.ordinary), logger: logger, onListening: onListening)
    }

    /// Serves until a graceful shutdown begins. Then the server answers the requests that have arrived.
    package func run() async throws { try await server.run() }
}
