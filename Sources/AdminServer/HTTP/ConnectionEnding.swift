import NIOCore
import NIOHTTP1

/// Says of every request whose client wants the connection to end with the answer that it does.
///
/// HTTP/1.0 wants so by saying nothing, and the version is not known any more where requests are answered.
final class ConnectionEnding: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data), !head.isKeepAlive else {
            return context.fireChannelRead(data)
        }
        head.headers.replaceOrAdd(name: "connection", value: "close")
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}
