import HTTPKit
package import Hummingbird
package import LocalSocket
package import Logging
package import MerchantCore
package import MerchantOperations
import NIOCore
import NIOPosix
import ServerKit
import ServiceLifecycle

/// A REST server on a Unix socket: the admin socket or the issuer socket.
///
/// It runs Hummingbird's router and request loop behind ``RequestGuard``. The socket's file has its final mode before a
/// client can connect. The kernel identifies the caller once for each connection.
package struct RESTSocketServer: Service {
    private let name: String
    private let socket: SocketSource
    private let responder: any HTTPResponder<RESTContext>
    private let reporter: RequestReporter
    private let limits: RESTSocketLimits
    private let logger: Logger
    private let gate: SocketGate
    private let onListening: @Sendable () -> Void
    private let bufferBudget: BufferBudget

    /// - Parameters:
    ///   - name: the server's name in the log, such as `admin`.
    ///   - socket: where the server gets its socket from. A user who may write to the socket's file may connect;
    ///     `policy` decides what the user may then do.
    ///   - responder: responds to the requests. ``RESTRouter`` builds it.
    ///   - reporter: responds to requests that violate a rule of HTTP.
    ///   - refusals: counts requests that were refused for lack of a permit, until the audit records them.
    ///   - onListening: called as soon as clients can connect.
    package init(
        name: String, socket: SocketSource, responder: any HTTPResponder<RESTContext>, reporter: RequestReporter,
        policy: CurrentValue<CallerPolicy>, refusals: RefusalLog, limits: RESTSocketLimits, logger: Logger,
        onListening: @escaping @Sendable () -> Void
    ) {
        self.name = name
        self.socket = socket
        self.responder = responder
        self.reporter = reporter
        self.limits = limits
        self.logger = logger
        self.onListening = onListening
        gate = SocketGate(
            policy: policy, limits: limits.connections, refusals: refusals, log: reporter.problems.log,
            lingerTime: RESTSocketLimits.lingerTime)
        bufferBudget = BufferBudget(limits.buffers)
    }

    /// Serves until a graceful shutdown begins. Then the server accepts no further connection, answers the requests
    /// that have arrived and closes every connection.
    package func run() async throws {
        let listener = try socket.listen(backlog: RESTSocketLimits.queuedConnections)
        defer { listener.remove() }
        let server = try await Self.bootstrap().bind(
            listener.descriptor,
            serverBackPressureStrategy: .init(
                lowWatermark: RESTSocketLimits.maximumUnhandled / 2, highWatermark: RESTSocketLimits.maximumUnhandled)
        ) { channel in
            accept(channel)
        }
        listener.restoreBacklog()
        logger.info("\(name) socket listening", metadata: ["path": "\(socket.path)"])
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
        logger.info("\(name) socket closed", metadata: ["path": "\(socket.path)"])
    }

    /// Waits until the open connections have finished their requests, and after the drain time closes the connections
    /// that are still open.
    private func drain(on loop: any EventLoop) async {
        let open = gate.beginDrain()
        let timeout = loop.scheduleTask(in: RESTSocketLimits.drainTime) {
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
            .childChannelOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: RESTSocketLimits.readBytes))
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
            try channel.pipeline.syncOperations.addHandler(
                EndOfInputHandler(keepingAtMost: RESTSocketLimits.keptBytes))
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        let connection = RESTConnection(
            peer: peer, channel: channel,
            reservedMemory: BufferBudget.Reservation(of: bufferBudget, for: peer.holder), logger: logger)
        let http = RESTChannel(
            for: connection, responder: responder, limits: RequestGuard.Limits(bodyBytes: limits.bodyBytes),
            reporter: reporter)
        return http.setup(channel: channel, logger: logger).map { Connection(http: http, channel: $0) }
    }
}
