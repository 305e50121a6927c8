import HTTPKit
import NIOCore
import NIOHTTP2

/// Closes an HTTP/2 connection: when it is idle, when an error occurs, when too many of its requests violate a rule of
/// HTTP, and when the server shuts down.
///
/// A graceful close has two steps (RFC 9113 section 6.8). The first GOAWAY announces the close, and the server still
/// accepts the streams that the client opens before it receives this GOAWAY. When the client has acknowledged the
/// server's PING, or after the linger time, the second GOAWAY names the last stream. Then the connection closes as soon
/// as no stream is open.
///
/// The handler must be directly behind `NIOHTTP2Handler`.
final class HTTP2ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    private enum Phase {
        case serving
        /// The first GOAWAY was sent.
        case announced
        /// The second GOAWAY was sent.
        case ending
    }

    private let eventLoop: any EventLoop
    private let idleTime: TimeAmount
    private let lingerTime: TimeAmount
    private let drainTime: TimeAmount
    private let maximumRefusals: Int
    private let onError: @Sendable () -> Void
    private var refusalCount = 0
    private var context: ChannelHandlerContext?
    private var phase = Phase.serving
    private var openStreams: Set<HTTP2StreamID> = []
    private var lastStream = HTTP2StreamID.rootStream
    /// Closes an idle connection.
    private var idleTimer: Scheduled<Void>?
    /// Begins the second step of the close.
    private var announcementTimer: Scheduled<Void>?
    /// Closes a connection whose streams do not close in time.
    private var drainTimer: Scheduled<Void>?

    /// - Parameter onError: called for each error of HTTP/2 that the client has caused, such as a head that RFC 9113
    ///   does not permit. NIO has already refused the frame, so no stream reports the error.
    init(eventLoop: any EventLoop, _ limits: PortalLimits, onError: @escaping @Sendable () -> Void) {
        self.eventLoop = eventLoop
        idleTime = limits.idleTime
        lingerTime = limits.lingerTime
        drainTime = limits.drainTime
        maximumRefusals = limits.refusedRequests
        self.onError = onError
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        startIdleTimer()
    }

    func handlerRemoved(context: ChannelHandlerContext) { connectionEnded() }

    func channelInactive(context: ChannelHandlerContext) {
        connectionEnded()
        context.fireChannelInactive()
    }

    private func connectionEnded() {
        context = nil
        for timer in [idleTimer, announcementTimer, drainTimer] { timer?.cancel() }
        (idleTimer, announcementTimer, drainTimer) = (nil, nil, nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .ping(_, let isAcknowledgement) = unwrapInboundIn(data).payload, isAcknowledgement { finishEnd() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is DrainEvent { beginEnd() } else { context.fireUserInboundEventTriggered(event) }
    }

    /// NIO reports errors of a stream and errors of the connection in the same way. After an error of the connection,
    /// NIO processes no further frames, so streams may stay open. The connection therefore closes after the linger
    /// time, in which responses that are ready still arrive.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is any NIOHTTP2Error { onError() }
        beginEnd()
        finishEnd()
        drainTimer?.cancel()
        drainTimer = eventLoop.assumeIsolated().scheduleTask(in: lingerTime) { self.context?.close(promise: nil) }
    }

    // MARK: Streams

    private func streamCreated(_ stream: HTTP2StreamID) {
        openStreams.insert(stream)
        lastStream = max(lastStream, stream)
        idleTimer?.cancel()
    }

    private func streamClosed(_ stream: HTTP2StreamID) {
        openStreams.remove(stream)
        guard openStreams.isEmpty else { return }
        switch phase {
        case .serving: startIdleTimer()
        case .announced: break
        case .ending: closeInNextTick()
        }
    }

    /// Closes the connection if too many requests were refused. The requests in progress still get their responses.
    private func requestRefused() {
        refusalCount += 1
        guard refusalCount >= maximumRefusals else { return }
        beginEnd()
        finishEnd()
    }

    private func startIdleTimer() {
        idleTimer?.cancel()
        idleTimer = eventLoop.assumeIsolated().scheduleTask(in: idleTime) { self.beginEnd() }
    }

    // MARK: End

    private func beginEnd() {
        guard phase == .serving, let context else { return }
        phase = .announced
        idleTimer?.cancel()
        announceEnd(context)
        send(.ping(HTTP2PingData(), ack: false), context)
        context.flush()
        announcementTimer = eventLoop.assumeIsolated().scheduleTask(in: lingerTime) { self.finishEnd() }
        drainTimer = eventLoop.assumeIsolated().scheduleTask(in: drainTime) { self.context?.close(promise: nil) }
    }

    /// Sends the first GOAWAY, which permits every stream.
    ///
    /// NIO's handler refuses all new streams after it has sent a GOAWAY itself. Therefore this frame is written
    /// directly to the handler before NIO's. It cannot split another frame, because NIO's handler writes each frame in
    /// one step.
    private func announceEnd(_ context: ChannelHandlerContext) {
        guard let http2 = try? context.pipeline.syncOperations.context(handlerType: NIOHTTP2Handler.self) else {
            return
        }
        http2.write(NIOAny(ByteBuffer(bytes: Self.announcement)), promise: nil)
    }

    /// A GOAWAY for the stream 2^31-1 without an error (RFC 9113 section 6.8): 8 bytes of payload, type 7, stream 0.
    private static let announcement: [UInt8] = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]

    private func finishEnd() {
        guard phase == .announced, let context else { return }
        phase = .ending
        announcementTimer?.cancel()
        send(.goAway(lastStreamID: lastStream, errorCode: .noError, opaqueData: nil), context)
        context.flush()
        if openStreams.isEmpty { closeInNextTick() }
    }

    private func send(_ payload: HTTP2Frame.FramePayload, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: payload)), promise: nil)
    }

    /// NIO reports the end of a stream before it has flushed the stream's last bytes.
    private func closeInNextTick() {
        eventLoop.assumeIsolated().execute { self.context?.close(promise: nil) }
    }
}

extension HTTP2ConnectionHandler {
    /// Reports the beginning and the end of each stream to the handler.
    struct StreamReports: NIOHTTP2StreamDelegate {
        private let handler: NIOLoopBound<HTTP2ConnectionHandler>

        fileprivate init(_ handler: NIOLoopBound<HTTP2ConnectionHandler>) { self.handler = handler }

        // NIO calls these functions on the connection's event loop.
        func streamCreated(_ id: HTTP2StreamID, channel: any Channel) { handler.value.streamCreated(id) }
        func streamClosed(_ id: HTTP2StreamID, channel: any Channel) { handler.value.streamClosed(id) }
    }

    /// Call this on the connection's event loop.
    var streamReports: StreamReports { StreamReports(NIOLoopBound(self, eventLoop: eventLoop)) }

    /// A function that a stream calls after it has refused a request that violates a rule of HTTP. Read this property
    /// and call the function on the connection's event loop.
    var reportRefusal: @Sendable () -> Void {
        let handler = NIOLoopBound(self, eventLoop: eventLoop)
        return { handler.value.requestRefused() }
    }
}
