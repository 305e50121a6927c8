package import NIOCore

/// Refuses a connection: sends one response, ignores everything that the client sends, and closes the connection when
/// the client has had a short time to read the response.
package final class RefusalHandler: ChannelInboundHandler {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private let response: ByteBuffer
    private let lingerTime: TimeAmount
    /// Closes the connection when ``lingerTime`` has passed.
    private var scheduledClose: Scheduled<Void>?

    /// - Parameters:
    ///   - response: a complete HTTP response with `Connection: close`.
    ///   - lingerTime: how long the client has to read the response.
    package init(_ response: ByteBuffer, lingerTime: TimeAmount) {
        self.response = response
        self.lingerTime = lingerTime
    }

    package func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(response), promise: nil)
        // Closes only the output, so that a client that is still sending its request gets no error before it reads the
        // response.
        context.close(mode: .output, promise: nil)
        scheduledClose = context.eventLoop.assumeIsolated().scheduleTask(in: lingerTime) { context.close(promise: nil) }
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The client sends nothing more, so the connection can be closed before ``lingerTime`` has passed.
        if case ChannelEvent.inputClosed = event { context.close(promise: nil) }
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    package func channelInactive(context: ChannelHandlerContext) {
        scheduledClose?.cancel()
        context.fireChannelInactive()
    }
}
