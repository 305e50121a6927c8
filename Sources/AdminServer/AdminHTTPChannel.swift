import HTTPKit
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Runs Hummingbird's request loop on one connection, behind ``RequestGuard``.
///
/// This type replaces Hummingbird's `HTTP1Channel`, for two reasons. `HTTP1Channel` passes on pipelined requests without
/// waiting for the earlier responses. When `HTTP1Channel` cannot parse a request, its response has no body.
struct AdminHTTPChannel: HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    /// How long a connection may wait for its first or next request before it is closed.
    static let idleTimeout = Duration.seconds(60)

    let makeGuard: @Sendable () -> RequestGuard
    let responder: HTTPChannelHandler.Responder

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: true, withErrorHandling: false, withOutboundHeaderValidation: false,
                withEncoderConfiguration: .init(), withDecoderLimitConfiguration: .server)
            try pipeline.addHandlers(makeGuard())
            try pipeline.addHandlers(
                HTTP1ToHTTPServerCodec(secure: false),
                HTTPConnectionStateHandler(idleTimeout: Self.idleTimeout, logger: logger))
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
    }

    func handle(value: Value, logger: Logger) async { await handleHTTP(asyncChannel: value, logger: logger) }
}
