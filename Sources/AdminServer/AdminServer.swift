package import HTTPKit
import HTTPTypes
package import LocalSocket
package import Logging
package import MerchantCore
import MerchantOperations
package import MetricsKit
import NIOCore
import RESTKit
import ServerKit
import ServiceLifecycle
package import Vocabulary
package import WireAPI

/// The REST server on the admin socket. Each ``AdminRoute`` declares the permit that its caller needs.
package struct AdminServer: Service {
    private let server: RESTSocketServer

    /// - Parameters:
    ///   - socket: where the server gets its socket from. A user who may write to the socket's file may connect;
    ///     `policy` decides what the user may then do.
    ///   - health: returns the daemon's health. It is called for each `GET /v1/health`.
    ///   - openAPI: the bytes of the OpenAPI document, which `GET /v1/openapi.yaml` returns unchanged.
    ///   - requests: the metrics of all servers, which `GET /metrics` shows and in which this server counts its
    ///     requests.
    ///   - metricsSources: the other parts of the daemon that `GET /metrics` shows.
    ///   - accessLog: gets a line for each response.
    ///   - onListening: called as soon as clients can connect.
    package init(
        socket: SocketSource, operations: AdminOperations, policy: CurrentValue<CallerPolicy>,
        health: @escaping @Sendable () -> HealthDocument, version: String, startedAt: Timestamp, openAPI: [UInt8],
        requests: RequestMetrics, metricsSources: [any MetricsSource] = [], accessLog: AccessLog = .off, logger: Logger,
        onListening: @escaping @Sendable () -> Void = {}
    ) {
        let reporter = RequestReporter(
            problems: ProblemReporter(
                log: LimitedLog(logger), integrityFindings: operations.integrity, refusalLevel: .info,
                forbiddenLevel: .warning),
            requests: requests, server: "admin", routes: AdminRoutes.all.map { ($0.method.rawValue, $0.path) },
            accessLog: accessLog)
        let handlers = AdminHandlers(
            operations: operations, health: health, version: version, startedAt: startedAt,
            openAPI: ByteBuffer(bytes: openAPI),
            metrics: MetricsReport(
                monitoring: operations.monitoring, masterKey: operations.masterKey,
                sources: [requests as any MetricsSource] + metricsSources, version: version, startedAt: startedAt))
        server = RESTSocketServer(
            name: "admin", socket: socket,
            responder: RESTRouter(
                routes: AdminRoutes.all, of: .admin, handlers: handlers, reporter: reporter, logger: logger
            ).buildResponder(),
            reporter: reporter, policy: policy, refusals: operations.refusals,
            limits: RESTSocketLimits(bodyBytes: AdminRoutes.importBodyLimit), logger: logger, onListening: onListening)
    }

    /// Serves until a graceful shutdown begins. Then the server answers the requests that have arrived.
    package func run() async throws { try await server.run() }
}
