package import HTTPKit
import HTTPTypes
import Hummingbird
package import LocalSocket
package import Logging
package import MerchantCore
import MerchantOperations
package import MetricsKit
import NIOCore
import NIOPosix
import RESTKit
import ServerKit
import ServiceLifecycle
package import Vocabulary
package import WireAPI

/// The REST server on the admin socket.
///
/// It runs Hummingbird's router and request loop behind ``RequestGuard``. The socket's file has its final mode before a
/// client can connect. The kernel identifies the caller once for each connection, and each ``AdminRoute`` declares the
/// permit that its caller needs.
package struct AdminServer: Service {
    /// The limits of open connections. Callers without a permit share a separate limit, so that their connections cannot
    /// exclude other callers.
    static let connectionLimits = UserQuotas.Limits(total: 256, perUser: 224, withoutPermit: 16)
    /// The limits of the memory, in bytes, for large request bodies and for large responses that clients have not read
    /// yet. Bodies and responses of up to 64 KiB do not count.
    static let bufferLimits = UserQuotas.Limits(total: 64 << 20, perUser: 48 << 20, withoutPermit: 2 << 20)
    /// How many connections the kernel queues until the server accepts them. If net.core.somaxconn is lower, the kernel
    /// uses that number.
    static let queuedConnections: CInt = 4096
    /// How long a refused client has to read its response before the connection is closed.
    static let lingerTime = TimeAmount.seconds(1)
    /// How long a shutdown waits for the requests that have arrived.
    private static let drainTime = TimeAmount(ShutdownBudget.Step.otherServers.time)
    /// How many bytes one read takes from a connection. All pipelined requests of one read are decoded at once, and all
    /// but the first then wait in memory.
    private static let readBytes = 8 * 1024
    /// How many bytes of requests may be unread when the client closes its side of the connection, beyond those that the
    /// server has requested. More than the buffer of a socket holds by default, because they can be a part of an import.
    private static let keptBytes = 512 * 1024
    /// How many accepted connections may wait for a task that handles them.
    private static let maximumUnhandled = 64

    private let socket: SocketSource
    private let responder: any HTTPResponder<RESTContext>
    private let reporter: RequestReporter
    private let logger: Logger
    private let gate: SocketGate
    private let onListening: @Sendable () -> Void
    private let bufferBudget = BufferBudget(bufferLimits)

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
        self.socket = socket
        self.onListening = onListening
        self.logger = logger
        let log = LimitedLog(logger)
        gate = SocketGate(
            policy: policy, limits: Self.connectionLimits, refusals: operations.refusals, log: log,
            lingerTime: Self.lingerTime)
        reporter = RequestReporter(
            problems: ProblemReporter(
                log: log, integrityFindings: operations.integrity, refusalLevel: .info, forbiddenLevel: .warning),
            requests: requests, server: "admin", routes: AdminRoutes.all.map { ($0.method.rawValue, $0.path) },
            accessLog: accessLog)
        let handlers = AdminHandlers(
            operations: operations, health: health, version: version, startedAt: startedAt,
            openAPI: ByteBuffer(bytes: openAPI),
            metrics: MetricsReport(
                monitoring: operations.monitoring, masterKey: operations.masterKey,
                sources: [requests as any MetricsSource] + metricsSources, version: version, startedAt: startedAt))
        responder = RESTRouter(routes: AdminRoutes.all, handlers: handlers, reporter: reporter, logger: logger)
            .buildResponder()
    }

    /// Serves until a graceful shutdown begins. Then the server accepts no further connection, answers the requests
    /// that have arrived and closes every connection.
    package func run() async throws {
        let listener = try socket.listen(backlog: Self.queuedConnections)
        defer { listener.remove() }
        let server = try await Self.bootstrap().bind(
            listener.descriptor,
            serverBackPressureStrategy: .init(
                lowWatermark: Self.maximumUnhandled / 2, highWatermark: Self.maximumUnhandled)
        ) { channel in
            accept(channel)
        }
        listener.restoreBacklog()
        logger.info("admin socket listening", metadata: ["path": "\(socket.path)"])
        onListening()
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                // gracefulShutdown() throws if the task is cancelled. A cancellation stops the server in the same way.
                try? await gracefulShutdown()
                await listener.stopAccepting(server.channel, connectionsOn: MultiThreadedEventLoopGroup.singleton)
                await drain(on: server.channel.eventLoop)
            }
            try await server.executeThenClose { connections in
                for try await connection in connections {
                    // nil stands for a connection that the server refused or closed at once.
                    guard let connection else { continue }
                    group.addTask { await connection.http.handle(value: connection.channel, logger: logger) }
                }
            }
        }
        logger.info("admin socket closed", metadata: ["path": "\(socket.path)"])
    }

    /// Waits until the open connections have finished their requests, and after the drain time closes the connections
    /// that are still open.
    private func drain(on loop: any EventLoop) async {
        let open = gate.beginDrain()
        let timeout = loop.scheduleTask(in: Self.drainTime) {
            for channel in open { channel.close(promise: nil) }
        }
        try? await EventLoopFuture.andAllComplete(open.map(\.closeFuture), on: loop).get()
        timeout.cancel()
    }

    private static func bootstrap() -> ServerBootstrap {
        ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    // Pauses accepting while no file descriptor is free. Otherwise the thread would retry in a loop.
                    try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: readBytes))
    }

    /// A connection that the server has accepted.
    private struct Connection: Sendable {
        let http: RESTChannel
        let channel: RESTChannel.Value
    }

    /// Identifies the caller, and prepares the connection for HTTP.
    ///
    /// - Returns: nil if the server refuses the connection or closes the connection at once.
    private func accept(_ channel: any Channel) -> EventLoopFuture<Connection?> {
        let peer: Peer
        do {
            guard let admitted = try gate.admit(channel) else { return channel.eventLoop.makeSucceededFuture(nil) }
            peer = admitted
            try channel.pipeline.syncOperations.addHandler(EndOfInputHandler(keepingAtMost: Self.keptBytes))
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        let connection = RESTConnection(
            peer: peer, channel: channel,
            reservedMemory: BufferBudget.Reservation(of: bufferBudget, for: peer.holder), logger: logger)
        let http = RESTChannel(
            for: connection, responder: responder, limits: RequestGuard.Limits(bodyBytes: AdminRoutes.importBodyLimit),
            reporter: reporter)
        return http.setup(channel: channel, logger: logger).map { Connection(http: http, channel: $0) }
    }
}
