import AdminServer
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import Testing

@Suite struct RequestDeadlineTests {
    private func channel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: RequestDeadline(limit: .seconds(30)))
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/peer")).wait()
        return channel
    }

    private let head = HTTPRequestPart.head(HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/"))

    @Test("a request that drips in is cut off when its time is over, however lively it drips")
    func drips() throws {
        let channel = try channel()
        try channel.writeInbound(head)
        for _ in 0..<29 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: " ")))
        }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("a request that is whole may take its time to be answered, and the next one has its own time")
    func whole() throws {
        let channel = try channel()
        for _ in 0..<3 {
            try channel.writeInbound(head)
            channel.embeddedEventLoop.advanceTime(by: .seconds(29))
            try channel.writeInbound(HTTPRequestPart.end(nil))
            channel.embeddedEventLoop.advanceTime(by: .seconds(100))
            #expect(channel.isActive)
        }
        _ = try channel.finish()
    }

    @Test("a connection that sent what is not HTTP ends soon, though its own end is not read")
    func notHTTP() throws {
        let channel = try channel()
        channel.pipeline.fireErrorCaught(HTTPParserError.invalidMethod)
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }
}
