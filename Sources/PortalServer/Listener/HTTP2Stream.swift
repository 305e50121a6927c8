import HTTPKit
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP2
import NIOHTTPTypes
import NIOHTTPTypesHTTP2

/// Runs Hummingbird's request loop on one HTTP/2 stream, behind ``HTTP2StreamGuard``. The loop ends after one request,
/// because a stream has only one.
struct HTTP2Stream: HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    let makeGuard: @Sendable () -> HTTP2StreamGuard
    let responder: HTTPChannelHandler.Responder

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandlers(HTTP2FramePayloadToHTTPServerCodec(), makeGuard())
            return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
        }
    }

    func handle(value: Value, logger: Logger) async { await handleHTTP(asyncChannel: value, logger: logger) }
}

extension PortalLimits {
    /// The limits of one HTTP/2 connection. All other limits have NIO's default values: 64 KiB for the flow-control
    /// windows of the connection and of each stream, and 5 CONTINUATION frames for each block of header fields.
    var http2: NIOHTTP2Handler.Configuration {
        var configuration = NIOHTTP2Handler.Configuration()
        configuration.connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: streamsPerConnection),
            HTTP2Setting(parameter: .maxHeaderListSize, value: headerListBytes),
        ]
        configuration.connection.maximumBufferedControlFrames = 1000
        configuration.connection.controlFrameRateLimit.maximumCount = controlFrames
        configuration.connection.controlFrameRateLimit.windowLength = resetWindow
        configuration.stream.streamResetFrameRateLimit.maximumCount = streamResets
        configuration.stream.streamResetFrameRateLimit.windowLength = resetWindow
        configuration.stream.streamErrorRateLimit.maximumCount = streamResets
        configuration.stream.streamErrorRateLimit.windowLength = resetWindow
        return configuration
    }
}
