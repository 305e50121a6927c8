import Glibc
package import HTTPKit
package import LocalSocket
package import Logging
package import MerchantCore
package import MerchantOperations
package import MetricsKit
import NIOCore
import NIOHTTP1
import NIOPosix
import ServerKit
import ServiceLifecycle
package import WireAPI

/// The REST server on the decryptor socket. For payment tokens, it finds the merchant and the certificate of a
/// publicKeyHash, restores symmetric keys, and verifies and decrypts tokens. It also exports private keys, requests
/// merchant sessions from Apple, and returns account numbers of merchant tokens.
///
/// If the server creates the socket, the socket's file has its final mode before a client can connect. The kernel
/// identifies the caller of each connection, and the setting `callers` decides which permits the caller has. During a
/// graceful shutdown, the server stops accepting connections, and answers the requests that have arrived, for at most
/// ``Limits/drainTime``. Unless a part of a further request has arrived, the last response on each connection has the
/// field `Connection: close`.
package struct DecryptorServer: Service {
    private let socket: SocketSource
    private let operations: PaymentTokenOperations
    private let sessions: SessionOperations
    private let mpans: MPANOperations
    private let refusals: RefusalLog
    private let integrity: IntegrityFindings
    private let policy: CurrentValue<CallerPolicy>
    private let health: @Sendable () -> HealthDocument
    private let openAPI: [UInt8]
    private let responses: KeyResponseCache
    private let requestMetrics: RequestMetrics
    private let limits: Limits
    private let accessLog: AccessLog
    private let loopProbe: EventLoopProbe
    private let onListening: @Sendable () -> Void
    private let logger: Logger

    /// - Parameters:
    ///   - socket: where the server gets its socket from.
    ///   - refusals: counts the refused requests for the audit.
    ///   - integrity: collects the errors that report a damaged key.
    ///   - policy: the permits of callers. A change also applies to open connections, from their next request on.
    ///   - health: returns the daemon's health. It is called on an event loop, so it must not block.
    ///   - openAPI: the bytes of the OpenAPI document, which `GET /v1/openapi.yaml` returns unchanged.
    ///   - responses: the cache of responses. The store must notify the cache of key changes.
    ///   - requests: the metrics of all servers, in which this server counts its requests.
    ///   - accessLog: logs the final responses, if it is on.
    ///   - loopProbe: gets the event loops of the server while it serves.
    ///   - onListening: called as soon as clients can connect.
    package init(
        socket: SocketSource, operations: PaymentTokenOperations, sessions: SessionOperations, mpans: MPANOperations,
        refusals: RefusalLog, integrity: IntegrityFindings, policy: CurrentValue<CallerPolicy>,
        health: @escaping @Sendable () -> HealthDocument, openAPI: [UInt8], responses: KeyResponseCache,
        requests: RequestMetrics, limits: Limits = Limits(), accessLog: AccessLog = .off,
        loopProbe: EventLoopProbe = EventLoopProbe(), logger: Logger,
        onListening: @escaping @Sendable () -> Void = {}
    ) {
        self.socket = socket
        self.operations = operations
        self.sessions = sessions
        self.mpans = mpans
        self.refusals = refusals
        self.integrity = integrity
        self.policy = policy
        self.health = health
        self.openAPI = openAPI
        self.responses = responses
        self.requestMetrics = requests
        self.limits = limits
        self.accessLog = accessLog
        self.loopProbe = loopProbe
        self.onListening = onListening
        self.logger = logger
    }

    /// Serves until a graceful shutdown or a cancellation.
    package func run() async throws {
        let listener = try socket.listen(backlog: Limits.backlog)
        defer { listener.remove() }
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: System.coreCount)
        // A separate thread accepts connections, so that a flood of new connections does not delay requests on open
        // ones.
        let acceptor = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        raisePriority(of: loops)
        let pool = BlockingPool(threads: max(2, System.coreCount), longestWait: limits.threadWait)
        let (jobs, jobsContinuation) = AsyncStream.makeStream(of: OffLoopWork.Job.self)
        let log = LimitedLog(logger)
        let gate = SocketGate(
            policy: policy, limits: limits.connections, refusals: refusals, log: log,
            lingerTime: limits.lingerTime)
        let environment = ConnectionHandler.Environment(
            endpoints: Endpoints(
                operations: operations, sessions: sessions, mpans: mpans, responses: responses,
                health: HealthResponses(health),
                openAPI: EncodedResponse(sharing: ByteBuffer(bytes: openAPI), mediaType: "application/yaml"),
                blockingPool: pool),
            problems: ProblemReporter(
                log: log, integrityFindings: integrity, refusalLevel: .debug, forbiddenLevel: .debug),
            work: OffLoopWork(limit: limits.waitingRequests, pool: pool, jobs: jobsContinuation), limits: limits,
            accessLog: accessLog)
        let resources = try await LoopResourcesByLoop(loops, requests: requestMetrics)
        let server = try await bootstrap(acceptor, loops, gate, environment, resources).withBoundSocket(
            listener.descriptor
        )
        .get()
        listener.restoreBacklog()
        loopProbe.watch(Array(loops.makeIterator()) + [acceptor.next()])
        logger.info("decryptor socket open", metadata: ["path": "\(socket.path)"])
        onListening()
        await withDiscardingTaskGroup { tasks in
            tasks.addTask {
                // gracefulShutdown() throws if the task is cancelled. A cancellation stops the server in the same way.
                try? await gracefulShutdown()
                await listener.stopAccepting(server, connectionsOn: loops)
                await drain(server, gate)
                jobsContinuation.finish()
            }
            for await job in jobs { tasks.addTask { await job() } }
        }
        loopProbe.watch([])
        try await acceptor.shutdownGracefully()
        try await loops.shutdownGracefully()
        try await pool.shutDown()
        logger.info("decryptor socket closed", metadata: ["path": "\(socket.path)"])
    }

    /// Gives the event loops a higher priority than the rest of the daemon, for times when the processor is busy. This
    /// needs CAP_SYS_NICE or a sufficient RLIMIT_NICE, which the systemd unit sets.
    private func raisePriority(of loops: MultiThreadedEventLoopGroup) {
        for loop in loops.makeIterator() {
            loop.execute {
                // On Linux, process 0 means the calling thread: setpriority(2).
                if setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Limits.niceness) != 0 {
                    logger.debug("the decryptor socket's threads keep the process's priority")
                }
            }
        }
    }

    private func bootstrap(
        _ acceptor: MultiThreadedEventLoopGroup, _ loops: MultiThreadedEventLoopGroup,
        _ gate: SocketGate, _ environment: ConnectionHandler.Environment, _ resources: LoopResourcesByLoop
    ) -> ServerBootstrap {
        ServerBootstrap(group: acceptor, childGroup: loops)
            // Pauses accepting while no file descriptor is free. Otherwise the thread would retry without a pause.
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
                }
            }
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try startConnection(channel, gate, environment, resources) }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            // One read at a time, so that a connection that always has data cannot delay the other connections.
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Limits.readBytes))
    }

    /// Adds the handlers to a new connection, unless the gate refuses the connection.
    private func startConnection(
        _ channel: any Channel, _ gate: SocketGate, _ environment: ConnectionHandler.Environment,
        _ resources: LoopResourcesByLoop
    ) throws {
        guard let peer = try gate.admit(channel) else { return }
        try channel.pipeline.syncOperations.addHandlers([
            EndOfInputHandler(keepingAtMost: limits.keptBytes),
            ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: .server)),
            ConnectionHandler(environment, peer: peer, resources: resources[channel.eventLoop]),
        ])
    }

    /// Waits until the open connections have finished their requests, and after the drain time closes the connections
    /// that are still open.
    private func drain(_ server: any Channel, _ gate: SocketGate) async {
        logger.info("decryptor socket draining")
        let open = gate.beginDrain()
        let timeout = server.eventLoop.scheduleTask(in: limits.drainTime) {
            for channel in open { channel.close(promise: nil) }
        }
        try? await EventLoopFuture.andAllComplete(open.map(\.closeFuture), on: server.eventLoop).get()
        timeout.cancel()
    }
}
