import Foundation
import MerchantTestSupport
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import SandboxKit
import Vocabulary

/// An HTTPS server for one test, with a certificate for chosen names and dates.
final class TestSite: Sendable {
    struct Request: Sendable {
        let head: HTTPRequestHead
        let body: [UInt8]
        /// The number of the connection, from 1.
        let connection: Int
        /// The certificate that the client presented on the connection, in DER. The site accepts every certificate.
        let clientCertificate: [UInt8]?
    }

    enum Reply: Sendable {
        case answer(Int, [String: String] = [:], [UInt8])
        /// Head and half of the body, then the end of the connection.
        case half([UInt8])
        case reset
        case nothing
        /// Head, and then one byte of the body after each pause.
        case byteByByte([UInt8], pause: TimeAmount)
        /// Bytes that are not HTTP.
        case bytes([UInt8])
    }

    let port: Int
    private let channel: any Channel
    private let accepted = Guarded(0)

    /// How many connections the site has accepted.
    var connections: Int { accepted.value }

    init(
        _ fixture: GatewayFixture, names: [String] = ["localhost", "127.0.0.1"], from: Int = -1, until: Int = 90,
        host: String = "127.0.0.1", reply: @escaping @Sendable (Request) -> Reply
    ) async throws {
        let credentials = try fixture.authority.issueServerCredentials(
            names: names.compactMap(SandboxServerName.init), notBefore: GatewayFixture.day(from),
            notAfter: GatewayFixture.day(until))
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(credentials.certificate.utf8)).map {
                .certificate($0)
            },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(credentials.privateKey.utf8), format: .pem)))
        tls.shutdownTimeout = .milliseconds(100)
        tls.certificateVerification = .optionalVerification
        let context = try NIOSSLContext(configuration: tls)
        let accepted = accepted
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                let number = accepted.update { number in
                    number += 1
                    return number
                }
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(
                        NIOSSLServerHandler(
                            context: context,
                            customVerificationCallback: { _, promise in promise.succeed(.certificateVerified) }))
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(Site(number: number, reply: reply))
                }
            }
            .bind(host: host, port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    func stop() async { try? await channel.close() }

    private final class Site: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let number: Int
        private let reply: @Sendable (Request) -> Reply
        private var head: HTTPRequestHead?
        private var body: [UInt8] = []

        init(number: Int, reply: @escaping @Sendable (Request) -> Reply) {
            self.number = number
            self.reply = reply
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                self.head = head
                body = []
            case .body(let part): body += Array(part.readableBytesView)
            case .end:
                guard let head else { return }
                let certificate = try? context.pipeline.syncOperations.nioSSL_peerCertificate()?.toDERBytes()
                let request = Request(head: head, body: body, connection: number, clientCertificate: certificate)
                send(reply(request), context)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        private func send(_ reply: Reply, _ context: ChannelHandlerContext) {
            switch reply {
            case .answer(let status, let fields, let bytes): write(status, fields, bytes, bytes.count, context)
            case .half(let bytes):
                write(200, [:], Array(bytes.prefix(bytes.count / 2)), bytes.count, context)
                context.channel.close(promise: nil)
            case .reset:
                // Below TLS, which would send close_notify.
                if let socket = context.channel as? any SocketOptionProvider {
                    socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in }
                }
                let below = try? context.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
                below?.close(promise: nil)
            case .nothing: break
            case .byteByByte(let bytes, let pause):
                write(200, [:], [], bytes.count, context)
                let channel = context.channel
                let remaining = Guarded(bytes[...])
                context.eventLoop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { task in
                    guard channel.isActive, let byte = remaining.update({ $0.popFirst() }) else { return task.cancel() }
                    channel.writeAndFlush(
                        HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: [byte]))), promise: nil)
                }
            case .bytes(let bytes):
                let below = try? context.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self)
                below?.writeAndFlush(NIOAny(ByteBuffer(bytes: bytes)), promise: nil)
            }
        }

        private func write(
            _ status: Int, _ fields: [String: String], _ bytes: [UInt8], _ length: Int, _ context: ChannelHandlerContext
        ) {
            var headers = HTTPHeaders(fields.map { ($0.key, $0.value) })
            if fields["Transfer-Encoding"] == nil { headers.add(name: "Content-Length", value: String(length)) }
            let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            if !bytes.isEmpty {
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: nil)
            }
            if bytes.count == length { context.write(wrapOutboundOut(.end(nil)), promise: nil) }
            context.flush()
        }
    }
}

func withSite(
    _ fixture: GatewayFixture, names: [String] = ["localhost", "127.0.0.1"], from: Int = -1, until: Int = 90,
    reply: @escaping @Sendable (TestSite.Request) -> TestSite.Reply, _ body: (TestSite) async throws -> Void
) async throws {
    let site = try await TestSite(fixture, names: names, from: from, until: until, reply: reply)
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await body(site)) } catch { outcome = .failure(error) }
    await site.stop()
    try outcome.get()
}
