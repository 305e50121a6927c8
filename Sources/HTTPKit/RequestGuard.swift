package import NIOCore
package import NIOHTTP1

/// Enforces HTTP's rules in front of a server that handles one request at a time.
///
/// - The guard refuses a request that violates a rule, and closes the connection.
/// - The guard closes a connection if a request has begun but does not arrive completely, or if a response is not read,
///   within a time limit.
/// - The guard ignores offered upgrades.
/// - After a ``DrainEvent``, the guard lets the requests that have arrived be answered, announces the end of the
///   connection in the last response, and closes the connection. See `RequestGuard+Drain.swift`.
///
/// Add the guard behind `HTTPServerPipelineHandler`, which passes on one request at a time and suspends reading until
/// the response is complete.
package final class RequestGuard: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias InboundOut = HTTPServerRequestPart
    package typealias OutboundIn = HTTPServerResponsePart
    package typealias OutboundOut = HTTPServerResponsePart

    /// The limits of one connection.
    package struct Limits: Sendable {
        /// The longest body of any route, in bytes.
        package var bodyBytes: Int
        /// The time from the first bytes of a request to the end of its head. A slower request gets 408.
        package var headTime = TimeAmount.seconds(10)
        /// The time from a request's head to the request's end. A slower request gets 408, unless its response has
        /// begun.
        package var requestTime = TimeAmount.seconds(10)
        /// The time from the response's end until the socket has taken all bytes of the response. A client that reads
        /// too slowly for this loses the connection.
        package var responseTime = TimeAmount.seconds(20)
        /// How long the client has to close the connection after the last response. During a shutdown, also how long a
        /// head that has begun to arrive may take.
        package var lingerTime = TimeAmount.seconds(1)
        /// How long an idle connection waits for a further request after a shutdown has begun.
        package var idleGrace = DrainEvent.idleGrace

        package init(bodyBytes: Int) { self.bodyBytes = bodyBytes }
    }

    /// A complete response that refuses a request.
    package struct Refusal: Sendable {
        package let status: HTTPResponseStatus
        package let headers: HTTPHeaders
        package let body: ByteBuffer

        package init(status: HTTPResponseStatus, headers: HTTPHeaders, body: ByteBuffer) {
            self.status = status
            self.headers = headers
            self.body = body
        }
    }

    /// Returns the response to a request with a fault. The second argument is the request's target in origin form; nil
    /// if the target is unknown, because the head is malformed or has not arrived completely.
    package typealias MakeRefusal = @Sendable (HTTPFault, String?) -> Refusal

    /// Counts the decoded requests, including those that wait behind the request in progress. If this handler is not in
    /// the pipeline, the guard assumes that no request waits.
    let decodedRequests = DecodedRequests()
    let limits: Limits
    let hasUnreadBytes: @Sendable (any Channel) -> Bool
    private let makeRefusal: MakeRefusal
    private let onResponseSent: @Sendable () -> Void
    /// Whether a request's head was passed on, but not yet the request's end.
    private(set) var isReceiving = false
    /// Whether a request's head was passed on, and the response is not complete yet.
    private(set) var isResponding = false
    /// How many requests have reached the guard.
    private(set) var begunRequests = 0
    /// Whether the server is shutting down.
    var isDraining = false
    /// Whether the response to the last request has begun or is complete.
    private var hasResponded = false
    /// Whether the connection is closed after the current response, or after the next response if there is no current
    /// one.
    private var closesAfterResponse = false
    /// Whether the connection is being closed. All further parts of requests and responses are then dropped.
    var isClosing = false
    /// Whether the head of the next request arrives too slowly. The connection then ends.
    private var isHeadTooSlow = false
    private var requestTimer: Scheduled<Void>?
    private var responseTimer: Scheduled<Void>?
    private var lingerTimer: Scheduled<Void>?
    /// Ends an idle connection during a shutdown.
    var graceTimer: Scheduled<Void>?

    /// - Parameters:
    ///   - hasUnreadBytes: returns whether bytes that the client wrote are unread. The guard calls it before it ends a
    ///     connection during a shutdown. On a Unix socket, it must also make the client's further writes fail, so that
    ///     no request is lost. TCP has no such operation: a request that arrives after the call is lost.
    ///   - makeRefusal: returns the response to a request with a fault.
    ///   - onResponseSent: called after a response was completely written to the socket or its write failed, and when
    ///     the connection ends. Not called for a refusal.
    package init(
        _ limits: Limits, hasUnreadBytes: @escaping @Sendable (any Channel) -> Bool,
        makeRefusal: @escaping MakeRefusal, onResponseSent: @escaping @Sendable () -> Void
    ) {
        self.limits = limits
        self.hasUnreadBytes = hasUnreadBytes
        self.makeRefusal = makeRefusal
        self.onResponseSent = onResponseSent
    }

    package func handlerRemoved(context: ChannelHandlerContext) { connectionEnded() }

    package func channelInactive(context: ChannelHandlerContext) {
        connectionEnded()
        context.fireChannelInactive()
    }

    private func connectionEnded() {
        for timer in [requestTimer, responseTimer, lingerTimer, graceTimer] { timer?.cancel() }
        (requestTimer, responseTimer, lingerTimer, graceTimer) = (nil, nil, nil, nil)
        onResponseSent()
    }

    // MARK: Requests

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing else { return }
        switch unwrapInboundIn(data) {
        case .head(let head): beginRequest(head, context)
        case .body: context.fireChannelRead(data)
        case .end:
            isReceiving = false
            requestTimer?.cancel()
            context.fireChannelRead(data)
        }
    }

    private func beginRequest(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        begunRequests += 1
        graceTimer?.cancel()
        let target = RequestTarget.originForm(head.uri)
        do throws(HTTPFault) {
            try RequestHeadRules.check(head, bodyLimit: limits.bodyBytes)
        } catch {
            return refuse(error, target: target, context)
        }
        isReceiving = true
        isResponding = true
        hasResponded = false
        requestTimer?.cancel()
        requestTimer = context.eventLoop.assumeIsolated().scheduleTask(in: limits.requestTime) {
            self.refuse(.requestTooSlow, target: target, context)
        }
        var head = head
        head.uri = target
        if RequestHeadRules.endsConnection(head) {
            closesAfterResponse = true
            head.headers.remove(name: "upgrade")
            head.headers.replaceOrAdd(name: "connection", value: "close")
        }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // After a parse error, the decoder reports all further bytes with a ByteToMessageDecoderError. The parse error
        // itself was already handled.
        guard !isClosing, !(error is ByteToMessageDecoderError) else { return }
        guard let fault = isHeadTooSlow ? .requestTooSlow : HTTPFault(decoding: error) else {
            return context.fireErrorCaught(error)
        }
        // The shutdown cut off the head of a request. The connection ends without a response to this request.
        if isDraining, !isReceiving, !isResponding, case HTTPParserError.invalidEOFState = error {
            return closeNow(context)
        }
        refuse(fault, target: nil, context)
    }

    /// Refuses the request whose head arrives too slowly.
    ///
    /// `HTTPServerPipelineHandler` permits a response to a request whose head it has not seen only after a parse error.
    /// Therefore the refusal begins with such an error, which returns to ``errorCaught(context:error:)``.
    private func refuseSlowHead(_ context: ChannelHandlerContext) {
        // While a response is in progress, the server reads no more, so the client is not slow.
        guard !isClosing, !isResponding else { return }
        isHeadTooSlow = true
        context.pipeline.fireErrorCaught(HTTPParserError.unknown)
    }

    /// Sends a refusal and closes the connection. If the server has already begun to respond to the same request, this
    /// function only closes the connection.
    ///
    /// If the connection is closed already, no response is sent. This happens if a connection closes in the middle of a
    /// request, because the decoder then reports a malformed request.
    private func refuse(_ fault: HTTPFault, target: String?, _ context: ChannelHandlerContext) {
        guard !isClosing else { return }
        isClosing = true
        requestTimer?.cancel()
        // The server may be waiting for the rest of the request. Without this error, it would treat the end of the
        // connection as the end of the request.
        defer { if isReceiving { context.fireErrorCaught(ChannelError.eof) } }
        guard context.channel.isActive else { return }
        // While `isReceiving`, the fault is in the request that was passed on. If the response to this request has
        // begun, a second response must not follow. If not `isReceiving`, the fault is in a new request.
        if !(hasResponded && isReceiving) {
            let refusal = makeRefusal(fault, target)
            var headers = refusal.headers
            headers.replaceOrAdd(name: "content-length", value: String(refusal.body.readableBytes))
            headers.replaceOrAdd(name: "connection", value: "close")
            let head = HTTPResponseHead(version: .http1_1, status: refusal.status, headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(refusal.body))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
        closeAfterLinger(context)
    }

    /// Closes the connection for writing at once, and completely after ``Limits/lingerTime``. Until then, the client
    /// can read the response, and the bytes that it still sends are read and dropped.
    func closeAfterLinger(_ context: ChannelHandlerContext) {
        isClosing = true
        requestTimer?.cancel()
        context.close(mode: .output, promise: nil)
        lingerTimer = context.eventLoop.assumeIsolated().scheduleTask(in: limits.lingerTime) {
            context.close(promise: nil)
        }
    }

    /// Closes the connection without a further response.
    func closeNow(_ context: ChannelHandlerContext) {
        isClosing = true
        context.close(promise: nil)
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is DrainEvent: if !isClosing { beginDrain(context) }
        case is SlowHeadEvent: refuseSlowHead(context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    // MARK: Responses

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isClosing else { return promise?.fail(ChannelError.outputClosed) ?? () }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            // A status 1xx is an interim response, and the final response follows.
            guard head.status.code >= 200 else { break }
            hasResponded = true
            closesAfterResponse =
                closesAfterResponse || head.headers[canonicalForm: "connection"].contains("close")
                || isLastOfDrain(context)
            guard closesAfterResponse else { break }
            head.headers.replaceOrAdd(name: "connection", value: "close")
            return context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: break
        case .end: return endResponse(data, context, promise)
        }
        context.write(data, promise: promise)
    }

    /// Passes on the response's end after all earlier bytes of the response were written to the socket.
    ///
    /// `HTTPServerPipelineHandler` passes on the next request when it gets this end, so a connection never has more
    /// than one response in memory.
    private func endResponse(_ data: NIOAny, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        responseTimer = context.eventLoop.assumeIsolated().scheduleTask(in: limits.responseTime) {
            context.close(promise: nil)
        }
        let end = unwrapOutboundIn(data)
        // The write of an empty buffer completes after the writes of all earlier bytes.
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer())))).assumeIsolated().whenComplete { _ in
            self.responseTimer?.cancel()
            self.responseTimer = nil
            self.onResponseSent()
            self.isResponding = false
            self.isClosing = self.isClosing || self.closesAfterResponse
            context.writeAndFlush(self.wrapOutboundOut(end), promise: promise)
            if self.closesAfterResponse {
                self.closeAfterLinger(context)
            } else if self.isDraining, !self.isResponding {
                // The response had begun before the shutdown, so it did not announce the end of the connection.
                self.waitForRequest(context)
            }
        }
    }
}
