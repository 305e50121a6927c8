package import NIOCore

/// A connection past the bound: told so, and closed, whatever it sends.
package final class RefusalHandler: ChannelInboundHandler {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private let answer: ByteBuffer
    private let lingerTime: TimeAmount
    private var lingering: Scheduled<Void>?

    /// - Parameters:
    ///   - answer: a whole HTTP answer that closes the connection.
    ///   - lingerTime: how long the other side has for taking it.
    package init(_ answer: ByteBuffer, lingerTime: TimeAmount) {
        self.answer = answer
        self.lingerTime = lingerTime
    }

    package func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
        context.close(mode: .output, promise: nil)
        lingering = context.eventLoop.assumeIsolated().scheduleTask(in: lingerTime) { context.close(promise: nil) }
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { context.close(promise: nil) }
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    package func channelInactive(context: ChannelHandlerContext) {
        lingering?.cancel()
        context.fireChannelInactive()
    }
}
