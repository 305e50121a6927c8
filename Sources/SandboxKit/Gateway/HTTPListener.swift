import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// A small HTTP/1.1 server that can also delay responses, and reset or close connections, to simulate faults.
final class HTTPListener: Sendable {
    typealias Handler = @Sendable (NIOHTTPServerRequestFull, _ clientCertificate: [UInt8]?) async -> GatewayReply
    private typealias Connection = NIOAsyncChannel<NIOHTTPServerRequestFull, HTTPServerResponsePart>

    /// The largest permitted request body in bytes.
    private static let maximumBodySize = 1 << 20

    /// The TCP port; 0 for a Unix socket.
    let port: Int
    private let channel: any Channel
    /// Accepts connections and serves them.
    private let serverTask: Task<Void, Never>

    convenience init(tcpPort: Int, tls: NIOSSLContext, handler: @escaping Handler) async throws {
        try await self.init(on: "port \(tcpPort) of 127.0.0.1", tls: tls, handler: handler) { bootstrap, initializer in
            try await bootstrap.bind(host: "127.0.0.1", port: tcpPort, childChannelInitializer: initializer)
        }
    }

    convenience init(unixSocketPath: String, handler: @escaping Handler) async throws {
        try await self.init(on: "the socket '\(unixSocketPath)'", tls: nil, handler: handler) {
            bootstrap, initializer in
            try await bootstrap.bind(
                unixDomainSocketPath: unixSocketPath, cleanupExistingSocketFile: true,
                childChannelInitializer: initializer)
        }
    }

    private init(
        on place: String, tls: NIOSSLContext?, handler: @escaping Handler,
        bind: (
            ServerBootstrap, @escaping @Sendable (any Channel) -> EventLoopFuture<Connection>
        ) async throws -> NIOAsyncChannel<Connection, Never>
    ) async throws {
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        let server: NIOAsyncChannel<Connection, Never>
        do {
            server = try await bind(bootstrap) { channel in Self.prepare(channel, tls) }
        } catch let error as IOError {
            throw SandboxError("cannot listen on \(place): \(String(cString: strerror(error.errnoCode)))")
        } catch { throw SandboxError("cannot listen on \(place): \(error)") }
        channel = server.channel
        port = server.channel.localAddress?.port ?? 0
        serverTask = Task {
            await withDiscardingTaskGroup { group in
                try? await server.executeThenClose { connections in
                    for try await connection in connections {
                        group.addTask { await Self.serve(connection, handler) }
                    }
                }
                group.cancelAll()
            }
        }
    }

    /// Closes the listener and all connections, and returns when all of them are closed.
    func stop() async {
        try? await channel.close()
        serverTask.cancel()
        await serverTask.value
    }

    private static func prepare(_ channel: any Channel, _ tls: NIOSSLContext?) -> EventLoopFuture<Connection> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            if let tls {
                try pipeline.addHandler(
                    NIOSSLServerHandler(
                        context: tls,
                        // Accepts every certificate, because ClientCertificateVerifier checks it after the handshake.
                        customVerificationCallback: { _, promise in
                            promise.succeed(.certificateVerified)
                        }))
            }
            try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
            try pipeline.addHandler(NIOHTTPServerRequestAggregator(maxContentLength: maximumBodySize))
            return try Connection(wrappingChannelSynchronously: channel)
        }
    }

    private static func serve(_ connection: Connection, _ handler: Handler) async {
        // Errors are ignored: each of them ends only this connection, for example because the client disconnected or
        // `stop()` was called.
        try? await connection.executeThenClose { requests, replies in
            for try await request in requests {
                let channel = connection.channel
                let certificate = try? await channel.eventLoop.submit {
                    try channel.pipeline.syncOperations.nioSSL_peerCertificate()?.toDERBytes()
                }.get()
                let reply = await handler(request, certificate ?? nil)
                if reply.delay > .zero { try await Task.sleep(for: reply.delay) }
                switch reply.delivery {
                case .complete:
                    try await write(reply, to: replies, keepAlive: request.head.isKeepAlive)
                    guard request.head.isKeepAlive else { return }
                case .trickle(let pause):
                    try await write(reply, to: replies, keepAlive: request.head.isKeepAlive, pause: pause)
                    guard request.head.isKeepAlive else { return }
                case .reset: return try await drop(channel, reset: true)
                case .close: return try await drop(channel, reset: false)
                // 600 seconds is longer than merchantkeyd waits for a response.
                case .hang: try await Task.sleep(for: .seconds(600))
                }
            }
        }
    }

    /// - Parameter pause: the pause before each byte of the body; nil to send the body in one piece.
    private static func write(
        _ reply: GatewayReply, to replies: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>, keepAlive: Bool,
        pause: Duration? = nil
    ) async throws {
        var head = HTTPResponseHead(version: .http1_1, status: reply.status, headers: reply.headers)
        // A response with status 204 has no Content-Length (RFC 9110 section 8.6).
        if reply.status != .noContent {
            head.headers.replaceOrAdd(name: "Content-Length", value: String(reply.body.count))
        }
        if !keepAlive { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        try await replies.write(.head(head))
        if let pause {
            for byte in reply.body {
                try await Task.sleep(for: pause)
                try await replies.write(.body(.byteBuffer(ByteBuffer(bytes: [byte]))))
            }
        } else if !reply.body.isEmpty {
            try await replies.write(.body(.byteBuffer(ByteBuffer(bytes: reply.body))))
        }
        try await replies.write(.end(nil))
    }

    /// Closes a connection without the TLS alert close_notify, as if the server had crashed.
    ///
    /// - Parameter reset: whether to reset the TCP connection (RST) instead of closing it (FIN).
    private static func drop(_ channel: any Channel, reset: Bool) async throws {
        if reset, let socket = channel as? any SocketOptionProvider {
            try await socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        try await channel.eventLoop.flatSubmit {
            let promise = channel.eventLoop.makePromise(of: Void.self)
            do {
                // Close below the TLS handler, because that handler would send close_notify.
                try channel.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
                    .close(promise: promise)
            } catch { promise.fail(error) }
            return promise.futureResult
        }.get()
    }
}
