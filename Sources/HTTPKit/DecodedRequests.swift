package import NIOCore
import NIOHTTP1

/// Counts the requests that the decoder has delivered. `HTTPServerPipelineHandler` holds pipelined requests back until
/// the earlier requests have their responses, so ``RequestGuard`` cannot count them.
///
/// Add the counter between the decoder and `HTTPServerPipelineHandler`.
final class DecodedRequests: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private(set) var count = 0
    /// Whether the decoder has delivered a head, but not yet the end of its request.
    private(set) var isInsideRequest = false
    /// Whether the first bytes of a head have arrived, but not yet its end. ``HeadTimeLimit`` sets the value.
    var isHeadIncomplete = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: (count, isInsideRequest) = (count + 1, true)
        case .body: break
        case .end: isInsideRequest = false
        }
        context.fireChannelRead(data)
    }
}

extension ChannelPipeline.SynchronousOperations {
    /// Adds the guard behind NIO's HTTP handlers, which must already be in the pipeline. Also adds ``HeadTimeLimit``
    /// before the decoder, and the guard's counter between the decoder and `HTTPServerPipelineHandler`.
    package func addRequestGuard(_ requestGuard: RequestGuard) throws {
        let requests = requestGuard.decodedRequests
        try addHandler(
            HeadTimeLimit(requestGuard.limits.headTime, requests),
            position: .before(handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)))
        try addHandler(requests, position: .before(handler(type: HTTPServerPipelineHandler.self)))
        try addHandler(requestGuard)
    }
}
