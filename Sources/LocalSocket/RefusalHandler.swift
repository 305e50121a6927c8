package import NIOCore

/// Refuses a connection above a limit: sends one response, ignores everything that the client sends, and closes the
/// connection.
package final class RefusalHandler: ChannelInboundHandler {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private let response: ByteBuffer
    private let lingerTime: TimeAmount
    private var lingering: Scheduled<Void>?

    /// - Parameters:
    ///   - response: a complete HTTP response that closes the connection.
    ///   - lingerTime: how long the client has to read it.
    package init(_ response: ByteBuffer, lingerTime: TimeAmount) {
        self.response = response
        self.lingerTime = lingerTime
    }

    package func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(response), promise: nil)
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
