import NIOCore

/// Reports a request whose head takes too long to arrive, counted from its first bytes. So a client cannot hold a
/// connection by sending single bytes.
///
/// If the first bytes arrive in the same read as the end of the previous request, the time counts from the next read,
/// because the decoder does not report that it has bytes left. Until then the limit of idle connections applies.
///
/// Add the handler before the decoder. The handler compares what arrives with what the decoder delivers.
final class HeadTimeLimit: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let limit: TimeAmount
    private let requests: DecodedRequests
    private var timer: Scheduled<Void>?

    init(_ limit: TimeAmount, _ requests: DecodedRequests) {
        self.limit = limit
        self.requests = requests
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let countBefore = requests.count
        let wasInsideRequest = requests.isInsideRequest
        let isEmpty = unwrapInboundIn(data).readableBytes == 0
        context.fireChannelRead(data)
        guard requests.count == countBefore, !wasInsideRequest else { return headEnded() }
        if !isEmpty, !requests.isHeadIncomplete { headBegan(context) }
    }

    private func headBegan(_ context: ChannelHandlerContext) {
        requests.isHeadIncomplete = true
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: limit) {
            // While an earlier request is in progress, the server reads no more, so the client cannot finish the head.
            // ``RequestGuard`` then ignores the event, and the new timer gives the client the same time again.
            self.headBegan(context)
            context.fireUserInboundEventTriggered(SlowHeadEvent())
        }
    }

    private func headEnded() {
        requests.isHeadIncomplete = false
        timer?.cancel()
        timer = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        headEnded()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { headEnded() }
}

/// The head of a request did not arrive in time.
struct SlowHeadEvent: Sendable {}
