import HTTPTypes
import HummingbirdCore
import LocalSocket
package import Logging
package import MerchantCore
package import MerchantOperations
import NIOCore
import NIOExtras
import NIOHTTP1
import NIOHTTPTypes
import NIOPosix
import ServiceLifecycle
package import Vocabulary
package import WireAPI

/// The REST server on the admin's Unix socket.
///
/// Hummingbird's HTTP/1.1 channel on a socket that has its mode from its first moment (``UnixListener``). Who calls is
/// read once a connection, from the kernel; what they may do is stated by each ``AdminRoute``.
package struct AdminServer: Service {
    /// Past its own share a caller is told so and closed; past all, connections wait in the kernel's queue.
    static let bounds = ConnectionShares.Bounds(all: 256, ofOneUser: 224, ofStrangers: 16)
    static let queuedConnections: CInt = 256
    static let lingerTime = TimeAmount.seconds(1)
    static let idleTimeout = TimeAmount.seconds(60)

    private let socketPath: String
    private let socketMode: UInt32
    private let responder: AdminResponder
    private let logger: Logger
    private let connections = OpenConnections(bounds)

    /// - Parameters:
    ///   - socketPath: at most 107 bytes; a socket that nobody listens on any more is replaced.
    ///   - socketMode: who may write to the socket's file may connect; what they may do is `policy`'s to say.
    ///   - health: asked for each `GET /v1/health`.
    ///   - openAPI: the contract, served as it is.
    package init(
        socketPath: String, socketMode: UInt32, operations: MerchantOperations, policy: CallerPolicy,
        health: @escaping @Sendable () -> HealthDocument, version: String, startedAt: Timestamp, openAPI: [UInt8],
        logger: Logger
    ) {
        self.socketPath = socketPath
        self.socketMode = socketMode
        self.logger = logger
        let counter = RequestCounter()
        responder = AdminResponder(
            routes: RouteTable(AdminRoute.all),
            handlers: AdminHandlers(
                operations: operations, health: health, version: version, startedAt: startedAt, openAPI: openAPI,
                counter: counter),
            policy: policy, counter: counter, logger: logger)
    }

    /// Serves until a graceful shutdown, which answers what was asked and then closes every connection.
    package func run() async throws {
        let listener = try UnixListener.listen(
            path: socketPath, mode: socketMode, backlog: Self.queuedConnections)
        defer { listener.remove() }
        let quiescing = ServerQuiescingHelper(group: MultiThreadedEventLoopGroup.singleton)
        let server = try await Self.bootstrap(quiescing).bind(listener.descriptor) { channel in
            accept(channel)
        }
        logger.info("admin socket listening", metadata: ["path": "\(socketPath)"])
        try await withGracefulShutdownHandler {
            try await withThrowingDiscardingTaskGroup { group in
                try await server.executeThenClose { connections in
                    for try await connection in connections {
                        group.addTask { await serve(connection) }
                    }
                }
            }
        } onGracefulShutdown: {
            quiescing.initiateShutdown(promise: nil)
        }
        logger.info("admin socket closed", metadata: ["path": "\(socketPath)"])
    }

    private static func bootstrap(_ quiescing: ServerQuiescingHelper) -> ServerBootstrap {
        ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        AvailableConnectionsChannelHandler(maxConnections: bounds.all),
                        quiescing.makeServerChannelHandler(channel: channel),
                    ])
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
    }

    /// What a connection is served with; nil where it is not.
    private typealias Connection = (channel: HTTP1Channel.Value, session: AdminResponder.Session)?

    private func accept(_ channel: any Channel) -> EventLoopFuture<Connection> {
        guard let peer = Self.credentials(of: channel) else {
            logger.error("connection without credentials closed")
            return channel.close().map { nil }
        }
        let caller = Caller(
            uid: peer.uid, gid: peer.gid, supplementaryGroups: peer.supplementaryGroups, pid: peer.pid,
            program: peer.program)
        let session = responder.session(for: caller)
        let holder: ConnectionShares.Holder = session.grants.allowNothing ? .stranger : .user(uid: caller.uid)
        if let refusal = connections.take(holder) {
            if refusal.isFirst { logger.warning("connections refused", metadata: ["reason": "\(refusal.reason)"]) }
            return channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(Self.refusal(refusal.reason))
                return nil
            }
        }
        channel.closeFuture.whenComplete { [connections] _ in connections.giveBack(holder) }
        return Self.http { _, _, _ in }.setup(channel: channel, logger: logger).flatMapThrowing { http in
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(ConnectionEnding(), position: .after(decoder))
            return (http, session)
        }
    }

    private static func credentials(of channel: any Channel) -> PeerCredentials? {
        let peer = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { try? PeerCredentials(of: $0) }
        return peer ?? nil
    }

    private static func refusal(_ reason: String) -> RefusalHandler {
        let answer = Answer.problem(
            MerchantError(.overloaded, "\(reason), expected this one again later"), requestId: "none")
        var bytes = ByteBuffer(
            string: "HTTP/1.1 \(answer.status)\r\n"
                + answer.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
                + "Content-Length: \(answer.body.readableBytes)\r\nConnection: close\r\n\r\n")
        bytes.writeImmutableBuffer(answer.body)
        return RefusalHandler(bytes, lingerTime: lingerTime)
    }

    private func serve(_ connection: Connection) async {
        guard let (channel, session) = connection else { return }
        let http = Self.http { request, writer, _ in try await session.respond(to: request, with: writer) }
        await http.handle(value: channel, logger: logger)
    }

    private static func http(_ responder: @escaping HTTPChannelHandler.Responder) -> HTTP1Channel {
        HTTP1Channel(
            responder: responder,
            configuration: .init(
                additionalChannelHandlers: [RequestDeadline()], idleTimeout: idleTimeout,
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 8192, maxHeaderListSize: 16384, maxHeaderFieldCount: 64)))
    }
}
