package import NIOHTTP1

extension NIOHTTPDecoderLimitConfiguration {
    /// The limits of every server: 8 KiB for the target and for each header field, 16 KiB for the target and all header
    /// fields together, and 64 header fields. The server responds to a request above a limit with 431.
    package static var server: NIOHTTPDecoderLimitConfiguration {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 8 * 1024
        limits.maxHeaderListSize = 16 * 1024
        limits.maxHeaderFieldCount = 64
        return limits
    }
}
