import Glibc
import HTTPKit
import LocalSocket
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

/// The end of a TCP connection during a shutdown, with real sockets.
@Suite struct TCPDrainTests {
    /// Answers each request with 200.
    private final class Responder: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .end = unwrapInboundIn(data) else { return }
            let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": "0"])
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }

    /// - Parameter request: arrives just before the grace time of the idle connection ends, so the server has not read
    ///   it then.
    /// - Returns: what the client receives until the server closes the connection.
    private func received(sending request: String) async throws -> String {
        let (channels, continuation) = AsyncStream.makeStream(of: (any Channel).self)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline(
                        withPipeliningAssistance: true, withErrorHandling: false, withOutboundHeaderValidation: false)
                    var limits = RequestGuard.Limits(bodyBytes: 0)
                    limits.idleGrace = .milliseconds(20)
                    try pipeline.addRequestGuard(
                        RequestGuard(
                            limits,
                            hasUnreadBytes: { (try? $0.pipeline.syncOperations.hasUnreadBytes()) ?? false },
                            makeRefusal: { _, _ in .init(status: .badRequest, headers: [:], body: ByteBuffer()) },
                            onResponseSent: {}))
                    try pipeline.addHandler(Responder())
                    continuation.yield(channel)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let client = try connect(to: try #require(server.localAddress?.port))
        defer { close(client) }
        var iterator = channels.makeAsyncIterator()
        let channel = try #require(await iterator.next())
        let bytes = Array(request.utf8)
        try await channel.eventLoop.submit {
            channel.pipeline.fireUserInboundEventTriggered(DrainEvent())
            // The event loop reads nothing until this closure returns, and then the grace time is over.
            let end = NIODeadline.now() + .milliseconds(30)
            #expect(bytes.isEmpty || send(client, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count)
            while try NIODeadline.now() < end
                || channel.pipeline.syncOperations.hasUnreadBytes() == bytes.isEmpty
            {}
        }.get()
        // The server's end of the connection closes, so the calls below do not block for long.
        try await channel.closeFuture.get()
        try await server.close()
        return readAll(client)
    }

    private func connect(to port: Int) throws -> CInt {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
        let result = address.withSockAddr { Glibc.connect(descriptor, $0, socklen_t($1)) }
        try #require(result == 0)
        return descriptor
    }

    private func readAll(_ descriptor: CInt) -> String {
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return String(decoding: received, as: UTF8.self) }
            received += buffer[..<count]
        }
    }

    @Test func `a request that the server has not read when the grace time ends is answered, and ends the connection`()
        async throws
    {
        let answer = try await received(sending: "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.contains("connection: close\r\n"), "\(answer)")
    }

    @Test func `an idle connection ends without a response`() async throws {
        #expect(try await received(sending: "") == "")
    }
}
