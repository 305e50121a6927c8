package import NIOCore
package import NIOHTTP1

/// Enforces HTTP's rules in front of a server that handles one request at a time.
///
/// It refuses a request that violates them with a problem document and closes the connection. It closes a connection whose
/// request does not arrive, or whose response is not read, within a time limit. It ignores offered upgrades. After
/// ``DrainEvent`` it closes the connection, once the request in progress has its response. Its place is behind
/// `HTTPServerPipelineHandler`, which passes one request at a time and suspends reading meanwhile.
package final class RequestGuard: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias InboundOut = HTTPServerRequestPart
    package typealias OutboundIn = HTTPServerResponsePart
    package typealias OutboundOut = HTTPServerResponsePart

    package struct Limits: Sendable {
        /// The longest body of any route, in bytes.
        package var bodyBytes: Int
        /// From a request's head to its end; then 408. The same as on the decryptor socket, and shorter than the shutdown limit.
        package var requestTime = TimeAmount.seconds(10)
        /// From the end of a response until the client has read it; then the connection is closed. Shorter than the daemon's
        /// shutdown limit of 30 s, so that a client that reads nothing does not delay a shutdown.
        package var responseTime = TimeAmount.seconds(20)
        /// How long the client has to close a connection after a refusal.
        package var lingerTime = TimeAmount.seconds(1)

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

    private let limits: Limits
    private let render: @Sendable (HTTPFault) -> Refusal
    private let onResponseTaken: @Sendable () -> Void
    /// A request's head was passed on, but not yet its end.
    private var isReceiving = false
    /// A request's head was passed on, and its response is not yet complete.
    private var isResponding = false
    /// The response to the last request has begun or is complete.
    private var hasResponded = false
    /// The current response, or the next one, is the connection's last.
    private var isLast = false
    /// The connection's last response was written: nothing more is passed on in either direction.
    private var hasEnded = false
    private var arrival: Scheduled<Void>?
    private var sending: Scheduled<Void>?
    private var closing: Scheduled<Void>?

    /// - Parameters:
    ///   - render: returns the problem document of a fault.
    ///   - onResponseTaken: called when a response was written to the socket completely, and when the connection ends.
    package init(
        _ limits: Limits, render: @escaping @Sendable (HTTPFault) -> Refusal,
        onResponseTaken: @escaping @Sendable () -> Void
    ) {
        self.limits = limits
        self.render = render
        self.onResponseTaken = onResponseTaken
    }

    package func handlerRemoved(context: ChannelHandlerContext) { end() }

    package func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    private func end() {
        for timer in [arrival, sending, closing] { timer?.cancel() }
        (arrival, sending, closing) = (nil, nil, nil)
        onResponseTaken()
    }

    // MARK: Requests

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasEnded else { return }
        switch unwrapInboundIn(data) {
        case .head(let head): begin(head, context)
        case .body: context.fireChannelRead(data)
        case .end:
            isReceiving = false
            arrival?.cancel()
            context.fireChannelRead(data)
        }
    }

    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        do throws(HTTPFault) {
            try RequestHeadRules.check(head, bodyLimit: limits.bodyBytes)
        } catch {
            return refuse(error, context)
        }
        isReceiving = true
        isResponding = true
        hasResponded = false
        arrival?.cancel()
        arrival = context.eventLoop.assumeIsolated().scheduleTask(in: limits.requestTime) {
            self.refuse(.requestTooSlow, context)
        }
        var head = head
        head.uri = RequestTarget.originForm(head.uri)
        if RequestHeadRules.endsConnection(head) {
            isLast = true
            head.headers.remove(name: "upgrade")
            head.headers.replaceOrAdd(name: "connection", value: "close")
        }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Bytes that follow those that could not be parsed are ignored.
        guard !hasEnded, !(error is ByteToMessageDecoderError) else { return }
        guard let fault = HTTPFault(decoding: error) else { return context.fireErrorCaught(error) }
        refuse(fault, context)
    }

    /// Responds in place of the server, unless its response has begun, and closes the connection.
    ///
    /// A connection that is closed already gets no response: when it closes, the decoder reports a request that has only
    /// partly arrived as malformed.
    private func refuse(_ fault: HTTPFault, _ context: ChannelHandlerContext) {
        guard !hasEnded else { return }
        hasEnded = true
        arrival?.cancel()
        // The server may be waiting for the rest of the request, and would take the end of the connection for its end.
        defer { if isReceiving { context.fireErrorCaught(ChannelError.eof) } }
        guard context.channel.isActive else { return }
        // A fault in a request that already has its response gets no second one.
        if !(hasResponded && isReceiving) {
            let refusal = render(fault)
            var headers = refusal.headers
            headers.replaceOrAdd(name: "content-length", value: String(refusal.body.readableBytes))
            headers.replaceOrAdd(name: "connection", value: "close")
            let head = HTTPResponseHead(version: .http1_1, status: refusal.status, headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(refusal.body))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
        close(context)
    }

    /// Gives the client time to read what was written. What it still sends is read and dropped meanwhile.
    private func close(_ context: ChannelHandlerContext) {
        hasEnded = true
        arrival?.cancel()
        context.close(mode: .output, promise: nil)
        closing = context.eventLoop.assumeIsolated().scheduleTask(in: limits.lingerTime) {
            context.close(promise: nil)
        }
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is DrainEvent else { return context.fireUserInboundEventTriggered(event) }
        guard !hasEnded else { return }
        isLast = true
        guard !isResponding else { return }
        // A client that still sends a request which has its response must be able to read that response.
        guard !isReceiving else { return close(context) }
        hasEnded = true
        context.close(promise: nil)
    }

    // MARK: Responses

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !hasEnded else { return promise?.fail(ChannelError.outputClosed) ?? () }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            // An interim response, 1xx; the response itself follows.
            guard head.status.code >= 200 else { break }
            hasResponded = true
            isLast = isLast || head.headers[canonicalForm: "connection"].contains("close")
            guard isLast else { break }
            head.headers.replaceOrAdd(name: "connection", value: "close")
            return context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: break
        case .end: return end(data, context, promise)
        }
        context.write(data, promise: promise)
    }

    /// Passes the response's end on once everything before it was written to the socket. Only then the next request is
    /// passed on, so that a connection never has more than one response in memory. After the last response there is no next
    /// request.
    private func end(_ data: NIOAny, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        sending = context.eventLoop.assumeIsolated().scheduleTask(in: limits.responseTime) {
            context.close(promise: nil)
        }
        let part = unwrapOutboundIn(data)
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer())))).assumeIsolated().whenComplete { _ in
            self.sending?.cancel()
            self.sending = nil
            self.onResponseTaken()
            self.isResponding = false
            self.hasEnded = self.hasEnded || self.isLast
            context.writeAndFlush(self.wrapOutboundOut(part), promise: promise)
            if self.isLast { self.close(context) }
        }
    }
}
