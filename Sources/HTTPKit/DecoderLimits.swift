package import NIOHTTP1

extension NIOHTTPDecoderLimitConfiguration {
    /// What every server takes: 8 KiB a header field or target, 16 KiB and 64 fields in all; then 431.
    package static var server: NIOHTTPDecoderLimitConfiguration {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 8 * 1024
        limits.maxHeaderListSize = 16 * 1024
        limits.maxHeaderFieldCount = 64
        return limits
    }
}
