import NIOCore

/// Answers a client that sends plain HTTP to the TLS port, and closes its connection. Without this handler, TLS would
/// answer with bytes that no browser can show.
///
/// A TLS connection begins with a byte that is not a letter. A request of HTTP/1.1 or HTTP/2 begins with a letter. The
/// handler must be in front of the TLS handler. It removes itself when a TLS connection has begun.
final class PlainHTTPDetector: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let lingerTime: TimeAmount
    /// Whether the response was sent. All further bytes are then dropped.
    private var hasResponded = false
    private var lingerTimer: Scheduled<Void>?

    /// - Parameter lingerTime: how long the client has to read the response before the connection is closed.
    init(lingerTime: TimeAmount) { self.lingerTime = lingerTime }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasResponded else { return }
        let bytes = unwrapInboundIn(data)
        guard let first: UInt8 = bytes.getInteger(at: bytes.readerIndex) else { return }
        guard !Self.isLetter(first) else { return respond(context) }
        context.fireChannelRead(data)
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    private func respond(_ context: ChannelHandlerContext) {
        hasResponded = true
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: Self.response)), promise: nil)
        // Closes only the output, so that a client that is still sending gets no error before it reads the response.
        context.close(mode: .output, promise: nil)
        lingerTimer = context.eventLoop.assumeIsolated().scheduleTask(in: lingerTime) { context.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        lingerTimer?.cancel()
        context.fireChannelInactive()
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }

    private static let page =
        "400 Bad Request: this port accepts only HTTPS, but the request was sent as plain HTTP. Use the same address with https:// in front.\n"

    private static let response =
        "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: \(page.utf8.count)\r\n"
        + "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n" + page
}
