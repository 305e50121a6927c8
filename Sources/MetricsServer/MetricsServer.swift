package import HTTPKit
import LocalSocket
package import Logging
package import MetricsKit
import NIOCore
import NIOHTTP1
import NIOPosix
package import ServerKit
import ServiceLifecycle

/// The TCP port for a Prometheus server and for probes: `GET /metrics` and `GET /health`, over HTTP without TLS.
///
/// The clients are not identified, so the server offers nothing else, and no response names a merchant or a key. The
/// server has one thread and few connections, so that its clients cannot slow down the other servers. Idle connections
/// exclude no other client: above a limit, a new connection replaces the one that has waited longest for its client.
package struct MetricsServer: Service {
    /// The address of the listener.
    package struct Address: Hashable, Sendable, CustomStringConvertible {
        package let host: String
        package let port: Int

        package init(host: String, port: Int) {
            self.host = host
            self.port = port
        }

        package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

        /// Whether only programs of this machine can connect.
        package var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }
    }

    /// The limits of open connections, in all and from one address. See ``AddressBlock``.
    static let connectionLimits = UserQuotas.Limits(total: 32, perUser: 16, withoutPermit: 0)
    /// How long a connection may wait for its first or next request. Prometheus keeps a connection open between two
    /// scrapes, which are usually at most two minutes apart.
    static let idleTime = TimeAmount.seconds(150)
    /// How long a client may take to read a response.
    static let responseTime = TimeAmount.seconds(5)
    /// How long a shutdown waits for responses in progress.
    static let drainTime = TimeAmount(ShutdownBudget.Step.otherServers.time)
    private static let backlog: CInt = 128
    private static let readBytes = 8 * 1024

    private let address: Address
    private let responder: MetricsResponder
    private let onListening: @Sendable (Int) -> Void
    private let logger: Logger
    private let admission = ConnectionAdmission(connectionLimits, waitingGiveWay: true)

    /// - Parameters:
    ///   - isReady: returns whether the daemon is ready, for `GET /health`.
    ///   - requests: the metrics of all servers, in which this server counts its requests.
    ///   - problems: creates the responses to requests that fail.
    ///   - onListening: called with the TCP port, as soon as clients can connect.
    package init(
        address: Address, report: MetricsReport, isReady: @escaping @Sendable () -> Bool, requests: RequestMetrics,
        problems: ProblemReporter, accessLog: AccessLog = .off, logger: Logger,
        onListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.address = address
        self.onListening = onListening
        self.logger = logger
        responder = MetricsResponder(
            report: report, isReady: isReady, requests: requests, problems: problems, accessLog: accessLog)
    }

    /// Serves until a graceful shutdown or a cancellation.
    ///
    /// - Throws: ``MetricsServerError`` if the address cannot be opened.
    package func run() async throws {
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let server: any Channel
        do { server = try await bootstrap(loops).bind(host: address.host, port: address.port).get() } catch {
            try? await loops.shutdownGracefully()
            throw MetricsServerError(
                description:
                    "'metrics.listen': cannot listen on \(address): \(error); choose another address or port, or stop the program that uses it"
            )
        }
        let port = server.localAddress?.port ?? address.port
        logger.info(
            "metrics listening", metadata: ["address": "\(Address(host: address.host, port: port))"])
        if !address.isLoopback {
            logger.warning(
                "other machines may read the metrics: the listener has no TLS and identifies no client; let only the monitoring system connect",
                metadata: ["setting": "metrics.listen"])
        }
        onListening(port)
        // gracefulShutdown() throws if the task is cancelled. A cancellation stops the server in the same way.
        try? await gracefulShutdown()
        await drain(server, loops)
        try await loops.shutdownGracefully()
        logger.info("metrics closed", metadata: ["address": "\(address)"])
    }

    private func bootstrap(_ loops: MultiThreadedEventLoopGroup) -> ServerBootstrap {
        ServerBootstrap(group: loops)
            .serverChannelOption(.backlog, value: Self.backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    // Pauses accepting while no file descriptor is free. Otherwise the thread would retry in a loop.
                    try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
                }
            }
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try start(channel) }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.readBytes))
    }

    /// Adds the handlers to a new connection, or closes the connection if too many connections are open and none of
    /// them waits for its client.
    private func start(_ channel: any Channel) throws {
        guard let address = RemoteAddress(channel.remoteAddress),
            admission.admit(channel, of: address.block.holder) == .admitted
        else { return channel.close(promise: nil) }
        let responder = responder
        var limits = RequestGuard.Limits(bodyBytes: 0)
        limits.responseTime = Self.responseTime
        let pipeline = channel.pipeline.syncOperations
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: true, withErrorHandling: false, withOutboundHeaderValidation: false,
            withEncoderConfiguration: .init(), withDecoderLimitConfiguration: .server)
        try pipeline.addRequestGuard(
            RequestGuard(
                limits, hasUnreadBytes: { (try? $0.pipeline.syncOperations.hasUnreadBytes()) ?? false },
                makeRefusal: { fault, _ in responder.refusal(fault) }, onResponseSent: {}))
        try pipeline.addHandler(IdleStateHandler(readTimeout: Self.idleTime))
        try pipeline.addHandler(MetricsConnection(responder, admission))
    }

    /// Accepts no further connection, waits until the open connections have finished their requests, and after the
    /// drain time closes the connections that are still open.
    private func drain(_ server: any Channel, _ loops: MultiThreadedEventLoopGroup) async {
        await server.stopAccepting(connectionsOn: loops)
        let open = admission.beginDrain()
        for channel in open { channel.pipeline.fireUserInboundEventTriggered(DrainEvent()) }
        let timeout = server.eventLoop.scheduleTask(in: Self.drainTime) {
            for channel in open { channel.close(promise: nil) }
        }
        try? await EventLoopFuture.andAllComplete(open.map(\.closeFuture), on: server.eventLoop).get()
        timeout.cancel()
    }
}

/// Why the address of the metrics cannot be opened.
package struct MetricsServerError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
}
