package import NIOHTTP1

extension NIOHTTPDecoderLimitConfiguration {
    /// The limits of every server: 8 KiB for each header field and for the target; 16 KiB and 64 fields in all. A
    /// request above a limit gets 431.
    package static var server: NIOHTTPDecoderLimitConfiguration {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 8 * 1024
        limits.maxHeaderListSize = 16 * 1024
        limits.maxHeaderFieldCount = 64
        return limits
    }
}
