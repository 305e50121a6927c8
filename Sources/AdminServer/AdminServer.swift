import HTTPKit
import HTTPTypes
import HummingbirdCore
import LocalSocket
package import Logging
package import MerchantCore
import MerchantOperations
import NIOCore
import NIOExtras
import NIOHTTP1
import NIOHTTPTypes
import NIOPosix
import ServiceLifecycle
package import Vocabulary
package import WireAPI

/// The REST server on the admin socket.
///
/// Hummingbird's request loop behind ``HTTPKit``'s rules, on a socket that has its mode before anybody can connect
/// (``UnixListener``). The caller is read once a connection, from the kernel; each ``AdminRoute`` states what it permits.
package struct AdminServer: Service {
    /// A caller without a permit is refused at once when its share is used up, so that it keeps nobody else out.
    static let connectionLimits = Shares.Limits(total: 256, perUser: 224, withoutPermit: 16)
    /// Bytes of large request bodies and of large responses that are not yet taken; those up to 64 KiB do not count.
    static let bufferLimits = Shares.Limits(total: 64 << 20, perUser: 48 << 20, withoutPermit: 2 << 20)
    /// Connections that the kernel holds until they are accepted; it caps this at net.core.somaxconn.
    static let queuedConnections: CInt = 4096
    static let lingerTime = TimeAmount.seconds(1)
    /// Bytes taken from a connection at once: as many pipelined requests are held decoded while one is answered.
    private static let readBytes = 8 * 1024
    /// Accepted connections that wait for a task.
    private static let acceptedAtOnce = 64

    private let socketPath: String
    private let socketMode: UInt32
    private let responder: AdminResponder
    private let logger: Logger
    private let connections = ConnectionAdmission(connectionLimits)
    private let buffered = BufferedBytes(bufferLimits)
    private let log: LimitedLog

    /// - Parameters:
    ///   - socketPath: at most 107 bytes; a socket that nobody listens on any more is replaced.
    ///   - socketMode: who may write to the socket's file may connect; what they may do is `policy`'s to say.
    ///   - health: asked for each `GET /v1/health`.
    ///   - openAPI: the contract, served as it is.
    package init(
        socketPath: String, socketMode: UInt32, operations: AdminOperations, policy: CallerPolicy,
        health: @escaping @Sendable () -> HealthDocument, version: String, startedAt: Timestamp, openAPI: [UInt8],
        logger: Logger
    ) {
        self.socketPath = socketPath
        self.socketMode = socketMode
        self.logger = logger
        log = LimitedLog(logger)
        let counter = RequestCounter()
        responder = AdminResponder(
            routes: RouteTable(AdminRoute.all),
            handlers: AdminHandlers(
                operations: operations, health: health, version: version, startedAt: startedAt,
                openAPI: ByteBuffer(bytes: openAPI), counter: counter),
            policy: policy, counter: counter, log: log)
    }

    /// Serves until a graceful shutdown, which answers what was asked and then closes every connection.
    package func run() async throws {
        let listener = try UnixListener.listen(
            path: socketPath, mode: socketMode, backlog: Self.queuedConnections)
        defer { listener.remove() }
        let quiescing = ServerQuiescingHelper(group: MultiThreadedEventLoopGroup.singleton)
        let server = try await Self.bootstrap(quiescing).bind(
            listener.descriptor,
            serverBackPressureStrategy: .init(lowWatermark: Self.acceptedAtOnce / 2, highWatermark: Self.acceptedAtOnce)
        ) { channel in
            accept(channel)
        }
        logger.info("admin socket listening", metadata: ["path": "\(socketPath)"])
        try await withGracefulShutdownHandler {
            try await withThrowingDiscardingTaskGroup { group in
                try await server.executeThenClose { connections in
                    for try await connection in connections {
                        guard let connection else { continue }
                        group.addTask { await connection.http.handle(value: connection.channel, logger: logger) }
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
                        // Out of file descriptors, accepting pauses instead of spinning.
                        AcceptBackoffHandler(), quiescing.makeServerChannelHandler(channel: channel),
                    ])
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: readBytes))
    }

    /// A connection that is served.
    private struct Connection: Sendable {
        let http: AdminHTTPChannel
        let channel: AdminHTTPChannel.Value
    }

    /// - Returns: nil where the connection is refused or dropped.
    private func accept(_ channel: any Channel) -> EventLoopFuture<Connection?> {
        guard let peer = Self.credentials(of: channel) else {
            log.write(.error, "connection without credentials closed", metadata: [:])
            return channel.close().map { nil }
        }
        let grants = responder.policy.grants(
            uid: peer.uid, groups: peer.supplementaryGroups.union([peer.gid]))
        let holder: Shares.Holder = grants.allowNothing ? .withoutPermit : .user(uid: peer.uid)
        switch connections.admit(channel, of: holder) {
        case .dropped: return channel.close().map { nil }
        case .refused(let reason, let isFirst):
            if isFirst {
                log.write(.warning, "connections refused", uid: peer.uid, metadata: ["reason": "\(reason)"])
            }
            return channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(Self.refusal(reason))
                return nil
            }
        case .admitted: break
        }
        let session = responder.session(
            for: Caller(
                uid: peer.uid, gid: peer.gid, supplementaryGroups: peer.supplementaryGroups, pid: peer.pid,
                program: peer.program), grants: grants, holder: holder,
            buffered: BufferedBytes.Reservation(of: buffered, for: holder))
        let http = AdminHTTPChannel(
            makeGuard: {
                RequestGuard(
                    RequestGuard.Limits(bodyBytes: AdminRoute.importBody), render: { session.refusal($0) },
                    onResponseTaken: { session.buffered.giveBackAll() })
            }, responder: { request, writer, _ in try await session.respond(to: request, with: writer) })
        return http.setup(channel: channel, logger: logger).map { Connection(http: http, channel: $0) }
    }

    private static func credentials(of channel: any Channel) -> PeerCredentials? {
        let peer = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { try? PeerCredentials(of: $0) }
        return peer ?? nil
    }

    private static func refusal(_ reason: String) -> RefusalHandler {
        let answer = Answer.problem(
            MerchantError(.overloaded, "\(reason); try again later"), requestId: "none")
        var bytes = ByteBuffer(
            string: "HTTP/1.1 \(answer.status)\r\n"
                + answer.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
                + "Content-Length: \(answer.body.readableBytes)\r\nConnection: close\r\n\r\n")
        bytes.writeImmutableBuffer(answer.body)
        return RefusalHandler(bytes, lingerTime: lingerTime)
    }
}
