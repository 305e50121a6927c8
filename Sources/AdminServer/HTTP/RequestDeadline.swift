package import NIOCore
package import NIOHTTPTypes

/// Closes a connection whose request is still not whole some time after its head came: a sender that drips bytes holds no
/// place for long. One that sends no head at all is closed by the idle timeout, and one that sends what is not HTTP soon
/// after it was told so: it is not read any further, so its own end would not be noticed.
package final class RequestDeadline: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart

    private let limit: TimeAmount
    private let lingerTime: TimeAmount
    private var deadline: Scheduled<Void>?

    package init(limit: TimeAmount = .seconds(30), lingerTime: TimeAmount = .seconds(1)) {
        self.limit = limit
        self.lingerTime = lingerTime
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            deadline?.cancel()
            let channel = context.channel
            deadline = context.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
        case .body: break
        case .end: cancel()
        }
        context.fireChannelRead(data)
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        deadline?.cancel()
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: lingerTime) { channel.close(promise: nil) }
        context.fireErrorCaught(error)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        cancel()
        context.fireChannelInactive()
    }

    package func handlerRemoved(context: ChannelHandlerContext) { cancel() }

    private func cancel() {
        deadline?.cancel()
        deadline = nil
    }
}
