package import HTTPKit
package import Hummingbird
package import HummingbirdCore
import LocalSocket
package import Logging
package import NIOCore
import NIOHTTP1
package import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Runs Hummingbird's request loop on one HTTP/1.1 connection, behind ``RequestGuard``.
///
/// This type replaces Hummingbird's `HTTP1Channel`, for two reasons. `HTTP1Channel` passes on pipelined requests
/// without waiting for the earlier responses. When `HTTP1Channel` cannot parse a request, its response has no body.
package struct RESTChannel: HTTPChannelHandler {
    package typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    /// How long a connection to a socket may wait for its first or next request before it is closed.
    package static let idleTimeout = Duration.seconds(60)

    private let idleTime: Duration
    private let isSecure: Bool
    private let makeGuard: @Sendable () -> RequestGuard
    package let responder: HTTPChannelHandler.Responder

    /// - Parameters:
    ///   - idleTime: how long the connection may wait for its first or next request before it is closed.
    ///   - isSecure: whether TLS protects the connection, so that the scheme of the requests is `https`.
    ///   - makeGuard: creates the guard in front of the request loop.
    package init(
        idleTime: Duration, isSecure: Bool, makeGuard: @escaping @Sendable () -> RequestGuard,
        responder: @escaping HTTPChannelHandler.Responder
    ) {
        self.idleTime = idleTime
        self.isSecure = isSecure
        self.makeGuard = makeGuard
        self.responder = responder
    }

    /// For a connection to a Unix socket.
    ///
    /// - Parameters:
    ///   - responder: responds to the requests of the connection.
    ///   - limits: the limits that ``RequestGuard`` enforces.
    ///   - reporter: creates the responses to requests that violate a rule of HTTP.
    package init(
        for connection: RESTConnection, responder: any HTTPResponder<RESTContext>, limits: RequestGuard.Limits,
        reporter: RequestReporter
    ) {
        self.init(
            idleTime: Self.idleTimeout, isSecure: false,
            makeGuard: {
                RequestGuard(
                    limits,
                    hasUnreadBytes: { (try? $0.pipeline.syncOperations.stopReceivingAndCheckUnread()) ?? false },
                    makeRefusal: { fault, _ in reporter.refusal(fault, connection) },
                    onResponseSent: { connection.reservedMemory.releaseAll() })
            }, responder: connection.requestLoop(responder))
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: true, withErrorHandling: false, withOutboundHeaderValidation: false,
                withEncoderConfiguration: .init(), withDecoderLimitConfiguration: .server)
            try pipeline.addRequestGuard(makeGuard())
            try pipeline.addHandlers(
                HTTP1ToHTTPServerCodec(secure: isSecure),
                HTTPConnectionStateHandler(idleTimeout: idleTime, logger: logger))
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
    }

    package func handle(value: Value, logger: Logger) async { await handleHTTP(asyncChannel: value, logger: logger) }
}

extension RESTConnection {
    /// The function that Hummingbird's request loop calls for each request of the connection. For HTTP/2, each stream
    /// is a connection of its own.
    package func requestLoop(_ responder: any HTTPResponder<RESTContext>) -> HTTPChannelHandler.Responder {
        { request, writer, _ in
            let context = RESTContext(source: self, identifiers: RequestIdentifiers(request.headers))
            let response = try await responder.respond(to: request, context: context)
            try await writer.write(response: response.head, body: response.body)
        }
    }
}
