import HTTPKit
import HummingbirdCore
import LocalSocket
import Logging
import NIOCore
import NIOHTTP2
import NIOSSL
import NIOTLS
import RESTKit
import ServerKit
import Vocabulary

/// Prepares new connections: limits, TLS, and HTTP/1.1 or HTTP/2, which are negotiated in the TLS handshake.
struct ConnectionSetup: Sendable {
    /// A connection of HTTP/1.1 or a stream of HTTP/2 that waits for its task.
    struct Work: Sendable {
        let executor: EventLoopExecutor
        let run: @Sendable () async -> Void
    }

    let settings: PortalListenerSettings
    let certificates: PortalCertificates
    let connections: PortalConnections
    let bufferBudget: BufferBudget
    let executors: EventLoopExecutors
    let work: AsyncStream<Work>.Continuation
    let log: LimitedLog
    let now: @Sendable () -> Timestamp
    let refuse: PortalListener.Refuse
    let respond: PortalListener.Respond

    private var limits: PortalLimits { settings.limits }

    /// Call this on the channel's event loop before the channel is active.
    func start(_ channel: any Channel) throws {
        guard let address = RemoteAddress(channel.remoteAddress), admit(channel, from: address) else {
            channel.close(promise: nil)
            return
        }
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(StalledWriteHandler(limits.responseTime))
        try pipeline.addHandler(PlainHTTPDetector(lingerTime: limits.lingerTime))
        try pipeline.addHandler(NIOSSLServerHandler(context: certificates.context))
        try pipeline.addHandler(HandshakeLimit(limits.handshakeTime))
        try pipeline.addHandler(
            ApplicationProtocolNegotiationHandler { result, channel in
                let started = startHTTP(result, channel, from: address)
                // A failure closes the connection, because no handler would answer the client.
                started.whenFailure { _ in channel.close(promise: nil) }
                return started
            })
    }

    private func admit(_ channel: any Channel, from address: RemoteAddress) -> Bool {
        switch connections.admit(channel, from: address) {
        case .admitted: return true
        case .draining: return false
        case .refused(let reason, let isFirst):
            if isFirst {
                log.write(
                    .warning, "portal connections refused", metadata: ["reason": "\(reason)", "address": "\(address)"])
            }
            return false
        }
    }

    private func startHTTP(
        _ negotiated: ALPNResult, _ channel: any Channel, from address: RemoteAddress
    ) -> EventLoopFuture<Void> {
        let certificate: NIOSSLCertificate? = try? channel.pipeline.syncOperations.nioSSL_peerCertificate()
        let clientCertificate = certificate.flatMap { ClientCertificate($0) }
        let connection = makeConnection(channel, from: address, clientCertificate)
        switch negotiated {
        case .negotiated("h2"):
            return channel.eventLoop.makeCompletedFuture { try startHTTP2(connection, clientCertificate) }
        case .negotiated, .fallback:
            return startHTTP1(connection)
        }
    }

    private func makeConnection(
        _ channel: any Channel, from address: RemoteAddress, _ clientCertificate: ClientCertificate?
    ) -> PortalConnection {
        PortalConnection(
            channel: channel, peerAddress: address,
            reservedMemory: BufferBudget.Reservation(of: bufferBudget, for: address.block.holder),
            clientCertificate: clientCertificate, trustedProxies: settings.trustedProxies, now: now)
    }

    private func responder(for connection: PortalConnection) -> HTTPChannelHandler.Responder {
        { [respond] request, writer, _ in try await respond(request, writer, connection) }
    }

    // MARK: HTTP/1.1

    private func startHTTP1(_ connection: PortalConnection) -> EventLoopFuture<Void> {
        let (requestLimits, refuseRequest, logger) = (limits.request, refuse, log.logger)
        let http = RESTChannel(
            idleTime: Duration.nanoseconds(limits.idleTime.nanoseconds), isSecure: true,
            makeGuard: {
                RequestGuard(
                    requestLimits, hasUnreadBytes: { (try? $0.pipeline.syncOperations.hasUnreadBytes()) ?? false },
                    makeRefusal: { fault, target in refuseRequest(fault, target, connection) },
                    onResponseSent: { connection.reservedMemory.releaseAll() })
            },
            responder: responder(for: connection))
        let channel = connection.channel
        return http.setup(channel: channel, logger: logger).map { value in
            run(on: channel.eventLoop) { await http.handle(value: value, logger: logger) }
        }
    }

    // MARK: HTTP/2

    private func startHTTP2(_ connection: PortalConnection, _ clientCertificate: ClientCertificate?) throws {
        let channel = connection.channel
        let handler = HTTP2ConnectionHandler(
            eventLoop: channel.eventLoop, limits,
            onError: { [refuse] in
                // Counts and logs the request as malformed. No response is sent, because there is no stream for it.
                _ = refuse(.headMalformed, nil, connection)
            })
        let configuration = limits.http2
        let pipeline = channel.pipeline.syncOperations
        let onRefusal = handler.reportRefusal
        let http2 = NIOHTTP2Handler(
            mode: .server, eventLoop: channel.eventLoop, connectionConfiguration: configuration.connection,
            streamConfiguration: configuration.stream, streamDelegate: handler.streamReports,
            inboundStreamInitializer: { stream in
                startStream(stream, from: connection.peerAddress, clientCertificate, onRefusal: onRefusal)
            })
        try pipeline.addHandler(http2)
        try pipeline.addHandler(handler)
    }

    private func startStream(
        _ stream: any Channel, from address: RemoteAddress, _ clientCertificate: ClientCertificate?,
        onRefusal: @escaping @Sendable () -> Void
    ) -> EventLoopFuture<Void> {
        guard connections.admitStream(stream, from: address) else {
            return stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandler(StreamRefusal())
            }
        }
        let connection = makeConnection(stream, from: address, clientCertificate)
        let (requestLimits, refuseRequest, logger) = (limits.request, refuse, log.logger)
        let http = HTTP2Stream(
            makeGuard: {
                HTTP2StreamGuard(
                    requestLimits,
                    makeRefusal: { fault, target in
                        onRefusal()
                        return refuseRequest(fault, target, connection)
                    }, onResponseSent: { connection.reservedMemory.releaseAll() })
            },
            responder: responder(for: connection))
        return http.setup(channel: stream, logger: logger).map { value in
            run(on: stream.eventLoop) { await http.handle(value: value, logger: logger) }
        }
    }

    private func run(on loop: any EventLoop, _ task: @escaping @Sendable () async -> Void) {
        work.yield(Work(executor: executors[loop], run: task))
    }
}
