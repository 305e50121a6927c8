import Glibc
package import NIOCore

/// Passes on the last bytes of a connection only as fast as the handlers behind this one request them.
///
/// When a client closes its side of a connection, NIO reads at once everything that the client has sent before, even if
/// a handler has suspended reading. This can be as much as the socket's buffer holds: thousands of pipelined requests.
/// To decode them all would delay the other connections of the event loop. Therefore this handler keeps the bytes that
/// no handler has requested, and passes on at most ``pieceBytes`` of them for each requested read.
///
/// A client that has closed the connection in both directions reads no response. The handler then closes the connection
/// and drops the kept bytes. It also does this if more bytes than the limit would be kept.
///
/// Add the handler as the first one of a connection that permits remote half-closure and reads one message at a time.
package final class EndOfInputHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    /// How many kept bytes one requested read passes on at most.
    package static let pieceBytes = 4 * 1024

    private let limit: Int
    /// Whether a handler has requested a read that has brought nothing yet.
    private var isReadRequested = false
    /// Bytes that no handler has requested; nil if there are none.
    private var kept: ByteBuffer?
    /// Whether the end of the input was reached while bytes are kept.
    private var hasKeptEnd = false
    /// Whether bytes were passed on since the last end of a read.
    private var hasPassedBytes = false
    private var isDeliveryScheduled = false

    /// - Parameter limit: how many bytes are kept at most.
    package init(keepingAtMost limit: Int) { self.limit = limit }

    /// Whether there are bytes that the handler has not passed on.
    var isKeeping: Bool { kept != nil }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard kept == nil, isReadRequested else { return keep(unwrapInboundIn(data), context) }
        isReadRequested = false
        hasPassedBytes = true
        context.fireChannelRead(data)
    }

    private func keep(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        var bytes = bytes
        let count = (kept?.readableBytes ?? 0) + bytes.readableBytes
        guard context.channel.isActive, count <= limit, !Self.isClosedByPeer(context) else {
            kept = nil
            return context.close(promise: nil)
        }
        if kept == nil { kept = context.channel.allocator.buffer(capacity: count) }
        kept?.writeBuffer(&bytes)
    }

    /// Whether the client has closed the connection in both directions.
    private static func isClosedByPeer(_ context: ChannelHandlerContext) -> Bool {
        let isClosed = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { socket in
            var entry = pollfd(fd: socket, events: 0, revents: 0)
            return poll(&entry, 1, 0) > 0 && CInt(entry.revents) & POLLHUP != 0
        }
        return isClosed == .some(.some(true))
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        // If all bytes of a read were kept, the handlers behind this one got nothing, so for them no read has ended.
        guard hasPassedBytes else { return }
        hasPassedBytes = false
        context.fireChannelReadComplete()
    }

    package func read(context: ChannelHandlerContext) {
        guard kept != nil else {
            isReadRequested = true
            return context.read()
        }
        guard !isDeliveryScheduled else { return }
        isDeliveryScheduled = true
        context.eventLoop.assumeIsolated().execute { self.deliver(context) }
    }

    /// Passes on the next kept bytes, and after the last of them the end of the input.
    private func deliver(_ context: ChannelHandlerContext) {
        isDeliveryScheduled = false
        guard context.channel.isActive, var rest = kept else { return }
        let piece = rest.readSlice(length: min(Self.pieceBytes, rest.readableBytes)) ?? ByteBuffer()
        let isLast = rest.readableBytes == 0
        kept = isLast ? nil : rest
        context.fireChannelRead(wrapInboundOut(piece))
        context.fireChannelReadComplete()
        if isLast, hasKeptEnd {
            hasKeptEnd = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        } else if (try? context.channel.syncOptions?.getOption(.autoRead)) ?? true {
            // Request the next read, as the channel itself does after each read.
            context.pipeline.syncOperations.read()
        }
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if kept != nil, case ChannelEvent.inputClosed = event {
            hasKeptEnd = true
            return
        }
        context.fireUserInboundEventTriggered(event)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        kept = nil
        context.fireChannelInactive()
    }

    package func handlerRemoved(context: ChannelHandlerContext) { kept = nil }
}
