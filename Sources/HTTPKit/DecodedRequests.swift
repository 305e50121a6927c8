package import NIOCore
package import NIOHTTP1

/// Counts the requests that the decoder has delivered. `HTTPServerPipelineHandler` keeps pipelined requests back until
/// the earlier ones have their responses, so ``RequestGuard`` does not see them before.
///
/// Add the counter between the decoder and `HTTPServerPipelineHandler`.
package final class DecodedRequests: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias InboundOut = HTTPServerRequestPart

    private(set) var count = 0

    package init() {}

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head = unwrapInboundIn(data) { count += 1 }
        context.fireChannelRead(data)
    }
}

extension ChannelPipeline.SynchronousOperations {
    /// Adds the guard behind NIO's HTTP handlers, which must be in the pipeline already, and the guard's counter before
    /// `HTTPServerPipelineHandler`.
    package func addRequestGuard(_ requestGuard: RequestGuard) throws {
        try addHandler(
            requestGuard.decodedRequests, position: .before(handler(type: HTTPServerPipelineHandler.self)))
        try addHandler(requestGuard)
    }
}
