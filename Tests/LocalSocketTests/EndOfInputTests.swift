import Glibc
import LocalSocket
import NIOCore
import NIOPosix
import Testing

/// The end of the input of a channel that reads only on request, connected to a client's Unix socket.
@Suite struct EndOfInputTests {
    /// Records what the handlers behind an ``EndOfInputHandler`` get.
    private final class Recorder: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        var reads: [Int] = []
        var hasEnded = false

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            reads.append(unwrapInboundIn(data).readableBytes)
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case ChannelEvent.inputClosed = event { hasEnded = true }
        }
    }

    private struct Connection {
        let client: CInt
        let channel: any Channel
        let recorder: NIOLoopBound<Recorder>

        /// The lengths of the reads so far, and whether the end of the input was passed on.
        func seen() async throws -> (reads: [Int], hasEnded: Bool) {
            try await channel.eventLoop.submit { (recorder.value.reads, recorder.value.hasEnded) }.get()
        }

        func read() async throws { try await channel.eventLoop.submit { channel.read() }.get() }

        /// Whether the channel has taken every byte that the client wrote.
        var isEverythingTaken: Bool {
            var count: CInt = 0
            return ioctl(client, UInt(TIOCOUTQ), &count) == 0 && count == 0
        }
    }

    /// Connects, and sends one byte. The channel reads this byte, and then waits for the end of the input.
    private func connect(limit: Int = 100_000) async throws -> Connection {
        var descriptors: [CInt] = [-1, -1]
        try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &descriptors) == 0)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let recorder = try await loop.submit { NIOLoopBound(Recorder(), eventLoop: loop) }.get()
        let channel = try await ClientBootstrap(group: loop)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.autoRead, value: false)
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 8192))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        EndOfInputHandler(keepingAtMost: limit), recorder.value,
                    ])
                }
            }
            .withConnectedSocket(descriptors[1]).get()
        let connection = Connection(client: descriptors[0], channel: channel, recorder: recorder)
        try send(1, connection)
        try await connection.read()
        try await poll { try await connection.seen().reads == [1] }
        return connection
    }

    /// Waits until the condition holds, for 20 seconds at most.
    private func poll(_ condition: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(20)
        while try await !condition() {
            try #require(ContinuousClock.now < deadline, "the condition did not come true")
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    private func send(_ count: Int, _ connection: Connection) throws {
        let sent = [UInt8](repeating: 0, count: count).withUnsafeBytes {
            Glibc.send(connection.client, $0.baseAddress, count, CInt(MSG_NOSIGNAL))
        }
        try #require(sent == count)
    }

    @Test func `bytes before the end of the input are passed on only as reads are requested`() async throws {
        let connection = try await connect()
        try send(50_000, connection)
        shutdown(connection.client, CInt(SHUT_WR))
        try await poll { connection.isEverythingTaken }
        #expect(try await connection.seen().reads == [1])

        var expected = [1]
        while expected.reduce(0, +) < 50_001 {
            expected.append(min(EndOfInputHandler.pieceBytes, 50_001 - expected.reduce(0, +)))
            #expect(try await connection.seen().hasEnded == false)
            try await connection.read()
            try await poll { [expected] in try await connection.seen().reads.count >= expected.count }
            #expect(try await connection.seen().reads == expected)
        }
        try await poll { try await connection.seen().hasEnded }
        try await connection.channel.close()
        close(connection.client)
    }

    @Test func `a connection that the client has closed completely ends, and its unread bytes are dropped`()
        async throws
    {
        let connection = try await connect()
        try send(50_000, connection)
        close(connection.client)
        try await connection.channel.closeFuture.get()
        #expect(try await connection.seen().reads == [1])
    }

    @Test func `a connection ends if more bytes than the limit are unread at the end of the input`() async throws {
        let connection = try await connect(limit: 49_999)
        try send(50_000, connection)
        shutdown(connection.client, CInt(SHUT_WR))
        try await connection.channel.closeFuture.get()
        #expect(try await connection.seen().reads == [1])
        close(connection.client)
    }

    @Test func `an end of the input without unread bytes is passed on at once`() async throws {
        let connection = try await connect()
        shutdown(connection.client, CInt(SHUT_WR))
        try await poll { try await connection.seen().hasEnded }
        try await connection.channel.close()
        close(connection.client)
    }
}
