import HTTPKit
import LocalSocket
import NIOCore
import NIOHTTP1

/// Responds to the requests of one connection, one after the other. ``RequestGuard`` has already checked the requests.
final class MetricsConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let responder: MetricsResponder
    private let admission: ConnectionAdmission
    /// The head of the request that is arriving.
    private var head: HTTPRequestHead?
    private var isResponding = false
    /// Whether the client has closed its output, so that it sends no further request.
    private var inputClosed = false

    /// - Parameter admission: the object that has admitted the connection.
    init(_ responder: MetricsResponder, _ admission: ConnectionAdmission) {
        self.responder = responder
        self.admission = admission
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        // No request to this server needs a body.
        case .body: break
        case .end:
            guard let head else { return }
            self.head = nil
            isResponding = true
            admission.setWaitsForClient(false, context.channel)
            respond(to: head, context)
        }
    }

    private func respond(to head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        context.eventLoop.makeFutureWithTask { [responder] in await responder.response(to: head) }
            .assumeIsolated().whenSuccess { response in
                // The connection may have closed before the response was ready.
                guard context.channel.isActive else { return }
                // From now on, the connection waits for the client to read the response.
                self.admission.setWaitsForClient(true, context.channel)
                self.write(response, to: head, context)
            }
    }

    private func write(
        _ response: MetricsResponder.Response, to head: HTTPRequestHead, _ context: ChannelHandlerContext
    ) {
        var headers = response.headers
        headers.add(name: "Content-Length", value: String(response.body.readableBytes))
        if inputClosed { headers.add(name: "Connection", value: "close") }
        let responseHead = HTTPResponseHead(version: .http1_1, status: response.status, headers: headers)
        context.write(wrapOutboundOut(.head(responseHead)), promise: nil)
        if head.method != .HEAD {
            context.write(wrapOutboundOut(.body(.byteBuffer(response.body))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in
            self.isResponding = false
            if self.inputClosed { context.close(promise: nil) }
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is IdleStateHandler.IdleStateEvent: context.close(promise: nil)
        case ChannelEvent.inputClosed:
            inputClosed = true
            if !isResponding { context.close(promise: nil) }
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
