import NIOCore

/// A connection past the bound: told so, and closed, whatever it sends.
final class RefusalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let response: Response
    private let lingerTime: TimeAmount
    private var lingering: Scheduled<Void>?

    init(_ response: Response, lingerTime: TimeAmount) {
        self.response = response
        self.lingerTime = lingerTime
    }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(response.wireBytes(isHead: false, isLast: true)), promise: nil)
        context.close(mode: .output, promise: nil)
        lingering = context.eventLoop.assumeIsolated().scheduleTask(in: lingerTime) { context.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelInactive(context: ChannelHandlerContext) {
        lingering?.cancel()
        context.fireChannelInactive()
    }
}
