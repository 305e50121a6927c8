import HTTPKit
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOHTTPTypes
import NIOHTTPTypesHTTP2

/// Enforces the rules and limits of ``RequestGuard`` on one HTTP/2 stream.
///
/// - A request that violates a rule gets the response of `makeRefusal`, unless its response has begun.
/// - A stream is reset if its request does not arrive, or its response is not read, within a time limit.
/// - After a complete response, the rest of the request is not read: the stream is reset without an error (RFC 9113
///   section 8.1).
final class HTTP2StreamGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limits: RequestGuard.Limits
    private let makeRefusal: RequestGuard.MakeRefusal
    private let onResponseSent: @Sendable () -> Void
    /// Whether the request's head has arrived, or was refused.
    private var hasHead = false
    /// The target of the request; nil until its head has arrived.
    private var target: String?
    /// Whether the request's head was passed on, but not yet the request's end.
    private var isReceiving = false
    private var hasResponded = false
    /// Whether all further parts of the request and the response are dropped.
    private var isClosing = false
    private var receivedBytes = 0
    private var requestTimer: Scheduled<Void>?
    private var responseTimer: Scheduled<Void>?

    /// - Parameters:
    ///   - makeRefusal: returns the response to a request with a fault.
    ///   - onResponseSent: called after the response was completely written, and when the stream ends.
    init(
        _ limits: RequestGuard.Limits, makeRefusal: @escaping RequestGuard.MakeRefusal,
        onResponseSent: @escaping @Sendable () -> Void
    ) {
        self.limits = limits
        self.makeRefusal = makeRefusal
        self.onResponseSent = onResponseSent
    }

    func channelInactive(context: ChannelHandlerContext) {
        streamEnded()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { streamEnded() }

    private func streamEnded() {
        isClosing = true
        requestTimer?.cancel()
        responseTimer?.cancel()
        (requestTimer, responseTimer) = (nil, nil)
        onResponseSent()
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing else { return }
        switch unwrapInboundIn(data) {
        case .head(let head): beginRequest(head, data, context)
        case .body(let bytes):
            receivedBytes += bytes.readableBytes
            guard receivedBytes <= limits.bodyBytes else {
                return refuse(.bodyTooLarge(limit: limits.bodyBytes), context)
            }
            context.fireChannelRead(data)
        case .end:
            isReceiving = false
            requestTimer?.cancel()
            context.fireChannelRead(data)
        }
    }

    private func beginRequest(_ head: HTTPRequest, _ data: NIOAny, _ context: ChannelHandlerContext) {
        hasHead = true
        isReceiving = true
        target = head.path
        do throws(HTTPFault) {
            try HTTP2HeadRules.check(head, bodyLimit: limits.bodyBytes)
        } catch {
            return refuse(error, context)
        }
        requestTimer = context.eventLoop.assumeIsolated().scheduleTask(in: limits.requestTime) {
            self.refuse(.requestTooSlow, context)
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Before the head has arrived, an error that is not one of HTTP/2 comes from the conversion of the head.
        guard !hasHead, !isClosing, !(error is any NIOHTTP2Error) else { return context.fireErrorCaught(error) }
        hasHead = true
        refuse(.headMalformed, context)
    }

    /// Sends a refusal, unless the response has begun, and resets the stream.
    private func refuse(_ fault: HTTPFault, _ context: ChannelHandlerContext) {
        guard !isClosing else { return }
        isClosing = true
        requestTimer?.cancel()
        guard context.channel.isActive, !hasResponded else { return reset(context) }
        hasResponded = true
        startResponseTimer(context)
        let refusal = makeRefusal(fault, target)
        var fields = HTTPFields()
        for (name, value) in refusal.headers {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        fields[.contentLength] = String(refusal.body.readableBytes)
        let status = HTTPResponse.Status(code: Int(refusal.status.code))
        let head = HTTPResponse(status: status, headerFields: Self.permitted(fields))
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(refusal.body)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in self.reset(context) }
    }

    /// Resets the stream without an error, because the client has a complete response.
    private func reset(_ context: ChannelHandlerContext) {
        responseTimer?.cancel()
        guard context.channel.isActive else { return }
        // The server may be waiting for the rest of the request. Without this error, it would treat the end of the
        // stream as the end of the request.
        if isReceiving { context.fireErrorCaught(ChannelError.eof) }
        context.triggerUserOutboundEvent(NIOHTTP2FramePayloadToHTTPEvent.reset(code: .noError), promise: nil)
    }

    // MARK: Responses

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isClosing else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            // A status 1xx is an interim response, and the final response follows.
            if head.status.code >= 200 {
                hasResponded = true
                startResponseTimer(context)
            }
            head.headerFields = Self.permitted(head.headerFields)
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            let written = promise ?? context.eventLoop.makePromise(of: Void.self)
            // The promise completes when flow control has allowed all bytes of the response to be sent.
            written.futureResult.assumeIsolated().whenComplete { _ in self.endResponse(context) }
            context.write(data, promise: written)
        }
    }

    private func endResponse(_ context: ChannelHandlerContext) {
        guard !isClosing else { return }
        responseTimer?.cancel()
        onResponseSent()
        guard isReceiving else { return }
        isClosing = true
        requestTimer?.cancel()
        reset(context)
    }

    private func startResponseTimer(_ context: ChannelHandlerContext) {
        responseTimer?.cancel()
        responseTimer = context.eventLoop.assumeIsolated().scheduleTask(in: limits.responseTime) {
            context.close(promise: nil)
        }
    }

    /// Removes the fields that belong to a connection of HTTP/1.1 (RFC 9113 section 8.2.2).
    private static func permitted(_ fields: HTTPFields) -> HTTPFields {
        var fields = fields
        fields[.connection] = nil
        fields[.transferEncoding] = nil
        fields[.upgrade] = nil
        return fields
    }
}

/// Refuses a stream before its request is read. The client may repeat the request (RFC 9113 section 8.7).
final class StreamRefusal: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(.rstStream(.refusedStream)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
}
