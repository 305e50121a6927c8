import FoundationEssentials
import HTTPKit
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Synchronization
import Testing

@Suite struct RequestGuardTests {
    private final class Count: Sendable {
        let responsesSent = Mutex(0)
        let faults = Mutex<[HTTPFault]>([])
        var value: Int { responsesSent.withLock { $0 } }
    }

    private let count = Count()

    private func guardHandler(hasUnreadBytes: Bool = false) -> RequestGuard {
        RequestGuard(
            RequestGuard.Limits(bodyBytes: 100), hasUnreadBytes: { _ in hasUnreadBytes },
            makeRefusal: { [count] fault, _ in
                count.faults.withLock { $0.append(fault) }
                return RequestGuard.Refusal(
                    status: .init(statusCode: fault.problem.status), headers: [:], body: ByteBuffer(string: "problem"))
            },
            onResponseSent: { [count] in count.responsesSent.withLock { $0 += 1 } })
    }

    private func channel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: guardHandler())
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/peer")).wait()
        return channel
    }

    /// The guard behind NIO's codec and pipeline handler, as in the admin server.
    private func pipelined(hasUnreadBytes: Bool = false) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withPipeliningAssistance: true, withErrorHandling: false, withOutboundHeaderValidation: false)
        try channel.pipeline.syncOperations.addRequestGuard(guardHandler(hasUnreadBytes: hasUnreadBytes))
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/peer")).wait()
        return channel
    }

    private var renderedFaults: [HTTPFault] { count.faults.withLock { $0 } }

    /// The targets of the requests that reached the server.
    private func passedOn(_ channel: EmbeddedChannel) throws -> [String] {
        var targets: [String] = []
        while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
            if case .head(let head) = part { targets.append(head.uri) }
        }
        return targets
    }

    private func written(_ channel: EmbeddedChannel) throws -> String {
        var text = ""
        while let bytes = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
        return text
    }

    private func respond(_ channel: EmbeddedChannel, headers: HTTPHeaders = [:]) throws {
        var headers = headers
        headers.add(name: "Content-Length", value: "0")
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
    }

    private func head(_ uri: String = "/", _ more: [(String, String)] = []) -> HTTPServerRequestPart {
        .head(HTTPRequestHead(version: .http1_1, method: .POST, uri: uri, headers: HTTPHeaders([("Host", "x")] + more)))
    }

    private func refusalStatus(_ channel: EmbeddedChannel) throws -> UInt? {
        while let part = try channel.readOutbound(as: HTTPServerResponsePart.self) {
            if case .head(let head) = part {
                #expect(head.headers["connection"] == ["close"])
                return head.status.code
            }
        }
        return nil
    }

    @Test("a request that arrives slowly is refused with 408 when its time is over, however often its client sends")
    func drips() throws {
        let channel = try channel()
        try channel.writeInbound(head())
        for _ in 0..<9 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            try channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(string: " ")))
        }
        #expect(try refusalStatus(channel) == nil)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(try refusalStatus(channel) == 408)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("a complete request may wait for its response, and the next request has its own time limit")
    func whole() throws {
        let channel = try channel()
        for _ in 0..<3 {
            try channel.writeInbound(head())
            channel.embeddedEventLoop.advanceTime(by: .seconds(9))
            try channel.writeInbound(HTTPServerRequestPart.end(nil))
            channel.embeddedEventLoop.advanceTime(by: .seconds(100))
            try channel.writeOutbound(HTTPServerResponsePart.head(.init(version: .http1_1, status: .ok)))
            try channel.writeOutbound(HTTPServerResponsePart.end(nil))
            #expect(channel.isActive)
        }
        #expect(count.value == 3)
        _ = try channel.finish()
    }

    @Test("bytes that are not HTTP are refused, and the connection is closed")
    func notHTTP() throws {
        let channel = try channel()
        channel.pipeline.fireErrorCaught(HTTPParserError.invalidMethod)
        #expect(try refusalStatus(channel) == 400)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("a fault after a response closes the connection without a second response")
    func oneResponse() throws {
        let channel = try channel()
        try channel.writeInbound(head())
        try channel.writeOutbound(HTTPServerResponsePart.head(.init(version: .http1_1, status: .notFound)))
        try channel.writeOutbound(HTTPServerResponsePart.end(nil))
        #expect(try statuses(channel) == [404])
        channel.pipeline.fireErrorCaught(HTTPParserError.invalidChunkSize)
        #expect(try statuses(channel) == [])
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    private func statuses(_ channel: EmbeddedChannel) throws -> [UInt] {
        var statuses: [UInt] = []
        while let part = try channel.readOutbound(as: HTTPServerResponsePart.self) {
            if case .head(let head) = part { statuses.append(head.status.code) }
        }
        return statuses
    }

    @Test("neither a refused request nor what follows it reaches the server")
    func refused() throws {
        let channel = try channel()
        try channel.writeInbound(head("/", [("Host", "again")]))
        try channel.writeInbound(HTTPServerRequestPart.end(nil))
        try channel.writeInbound(head())
        #expect(try refusalStatus(channel) == 400)
        #expect(try channel.readInbound(as: HTTPServerRequestPart.self) == nil)
    }

    @Test("after the response that closes the connection, a request that arrived before it is not passed on")
    func pipelinedBehindTheLast() throws {
        let channel = try pipelined()
        try channel.writeInbound(
            ByteBuffer(string: "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n"))
        #expect(try passedOn(channel) == ["/1"])
        try respond(channel, headers: ["Connection": "close"])
        #expect(try passedOn(channel) == [])
        #expect(try written(channel).components(separatedBy: "HTTP/1.1 ").count == 2)
    }

    @Test(
        "at a shutdown an idle connection closes after the grace time, or a second later if a head is arriving",
        arguments: [("", TimeAmount.zero), ("GET /1 HTT", TimeAmount.seconds(1))])
    func drainsIdle(part: String, more: TimeAmount) throws {
        let channel = try pipelined()
        try channel.writeInbound(ByteBuffer(string: part))
        channel.pipeline.fireUserInboundEventTriggered(DrainEvent())
        channel.embeddedEventLoop.advanceTime(by: DrainEvent.idleGrace + more - .milliseconds(1))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!channel.isActive)
        #expect(try written(channel) == "")
        #expect(renderedFaults.isEmpty)
    }

    @Test func `at a shutdown a request whose head has begun to arrive is answered`() throws {
        let channel = try pipelined()
        try channel.writeInbound(ByteBuffer(string: "GET /1 HTT"))
        channel.pipeline.fireUserInboundEventTriggered(DrainEvent())
        channel.embeddedEventLoop.advanceTime(by: DrainEvent.idleGrace)
        try channel.writeInbound(ByteBuffer(string: "P/1.1\r\nHost: x\r\n\r\n"))
        #expect(try passedOn(channel) == ["/1"])
        try respond(channel)
        #expect(try written(channel).contains("connection: close"))
    }

    @Test func `a head that takes too long gets 408, and its time begins with its first byte`() throws {
        let channel = try pipelined()
        // The time in which the connection is idle does not count.
        channel.embeddedEventLoop.advanceTime(by: .seconds(30))
        for byte in "GET /1 HT".utf8 {
            try channel.writeInbound(ByteBuffer(bytes: [byte]))
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        }
        #expect(try written(channel) == "")
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(try written(channel).hasPrefix("HTTP/1.1 408 "))
        #expect(renderedFaults == [.requestTooSlow])
    }

    @Test func `the time of a head does not include the time of the request before it`() throws {
        let channel = try pipelined()
        try channel.writeInbound(ByteBuffer(string: "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n"))
        try channel.writeInbound(ByteBuffer(string: "GET /2 HT"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(try passedOn(channel) == ["/1"])
        try respond(channel)
        try channel.writeInbound(ByteBuffer(string: "TP/1.1\r\nHost: x\r\n\r\n"))
        #expect(try passedOn(channel) == ["/2"])
        try respond(channel)
        // No head is arriving now.
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(channel.isActive && renderedFaults.isEmpty)
    }

    @Test("after a shutdown began, a request on an idle connection is answered, and the response closes the connection")
    func drainsLateRequest() throws {
        let channel = try pipelined()
        channel.pipeline.fireUserInboundEventTriggered(DrainEvent())
        channel.embeddedEventLoop.advanceTime(by: DrainEvent.idleGrace - .milliseconds(1))
        try channel.writeInbound(ByteBuffer(string: "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(5))
        #expect(try passedOn(channel) == ["/1"])
        try respond(channel)
        let response = try written(channel)
        #expect(response.hasPrefix("HTTP/1.1 200 OK") && response.contains("connection: close"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test(
        "after a shutdown began, all pipelined requests are answered, and only the last response closes the connection")
    func drainsPipeline() throws {
        let channel = try pipelined()
        let requests = (1...3).map { "GET /\($0) HTTP/1.1\r\nHost: x\r\n\r\n" }.joined()
        try channel.writeInbound(ByteBuffer(string: requests))
        channel.pipeline.fireUserInboundEventTriggered(DrainEvent())
        for number in 1...3 {
            #expect(try passedOn(channel) == ["/\(number)"])
            try respond(channel)
            #expect(try written(channel).contains("connection: close") == (number == 3))
        }
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("after a shutdown began, bytes that arrive after the last response are ignored")
    func drainsBusy() throws {
        let channel = try pipelined()
        try channel.writeInbound(ByteBuffer(string: "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n"))
        channel.pipeline.fireUserInboundEventTriggered(DrainEvent())
        #expect(channel.isActive)
        #expect(try passedOn(channel) == ["/1"])
        try respond(channel)
        try channel.writeInbound(ByteBuffer(string: "GET /2 HTTP/1.1\r\nHost: x\r\n\r\nnot HTTP"))
        #expect(try passedOn(channel) == [])
        #expect(try written(channel).contains("connection: close"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
        #expect(try written(channel) == "")
    }

    @Test("at a shutdown a connection on which bytes are unread stays open until the request among them is answered")
    func drainsUnreadBytes() throws {
        let channel = try pipelined(hasUnreadBytes: true)
        channel.pipeline.fireUserInboundEventTriggered(DrainEvent())
        channel.embeddedEventLoop.advanceTime(by: DrainEvent.idleGrace)
        #expect(channel.isActive)
        try channel.writeInbound(ByteBuffer(string: "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n"))
        #expect(try passedOn(channel) == ["/1"])
        channel.embeddedEventLoop.advanceTime(by: .seconds(5))
        try respond(channel)
        #expect(try written(channel).hasPrefix("HTTP/1.1 200 OK"))
    }

    @Test("a connection that the client closes in the middle of a request gets no response")
    func closedByClient() throws {
        let channel = try pipelined()
        try channel.writeInbound(ByteBuffer(string: "GET /1 HTT"))
        _ = try channel.finish(acceptAlreadyClosed: true)
        #expect(try written(channel) == "")
        #expect(renderedFaults.isEmpty)
    }

    @Test("a body that the end of the connection cuts off reaches the server as an error, not as a complete body")
    func bodyCutOff() throws {
        let channel = try pipelined()
        try channel.writeInbound(
            ByteBuffer(string: "POST /1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}"))
        #expect(try passedOn(channel) == ["/1"])
        channel.close(promise: nil)
        channel.embeddedEventLoop.run()
        #expect(throws: ChannelError.eof) { try channel.throwIfErrorCaught() }
        #expect(try written(channel) == "")
        #expect(renderedFaults.isEmpty)
    }

    @Test("at a shutdown a client that is still sending a request can read the response that was already sent")
    func shutdownAfterEarlyResponse() throws {
        let closes = CloseRecorder()
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandlers([closes, guardHandler()])
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/peer")).wait()
        try channel.writeInbound(head("/", [("Content-Length", "10")]))
        try channel.writeOutbound(HTTPServerResponsePart.head(.init(version: .http1_1, status: .forbidden)))
        try channel.writeOutbound(HTTPServerResponsePart.end(nil))
        channel.pipeline.fireUserInboundEventTriggered(DrainEvent())
        #expect(closes.modes == [.output])
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(closes.modes == [.output, .all])
    }

    /// Records how the connection is closed. An embedded channel cannot close its output alone.
    private final class CloseRecorder: ChannelOutboundHandler {
        typealias OutboundIn = Any
        private(set) var modes: [CloseMode] = []

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            modes.append(mode)
            mode == .all ? context.close(promise: promise) : promise?.succeed()
        }
    }

    @Test("an offered upgrade is ignored, and the connection is closed after the response")
    func upgrade() throws {
        let channel = try channel()
        try channel.writeInbound(head("/", [("Upgrade", "h2c"), ("Connection", "Upgrade")]))
        guard case .head(let passed)? = try channel.readInbound(as: HTTPServerRequestPart.self) else {
            Issue.record("the request was not passed on")
            return
        }
        #expect(passed.headers["upgrade"] == [] && passed.headers["connection"] == ["close"])
        try channel.writeOutbound(HTTPServerResponsePart.head(.init(version: .http1_1, status: .ok)))
        #expect(try refusalStatus(channel) == 200)
    }

    @Test(
        "the absolute form of a target is accepted as its path",
        arguments: [
            ("http://x/v1/status?a=b", "/v1/status?a=b"), ("http://x", "/"), ("http://x?a=b", "/?a=b"), ("/v1", "/v1"),
        ])
    func absoluteForm(target: String, path: String) throws {
        let channel = try channel()
        try channel.writeInbound(head(target))
        guard case .head(let passed)? = try channel.readInbound(as: HTTPServerRequestPart.self) else {
            Issue.record("the request was not passed on")
            return
        }
        #expect(passed.uri == path)
    }
}
