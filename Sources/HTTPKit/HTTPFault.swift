import NIOHTTP1

/// A request that violates a rule of HTTP or exceeds a limit of the server, or whose method or query the path does not
/// allow.
///
/// The server responds with a problem document that has the members in ``problem``. For the pages of the portal, it
/// responds to some faults with a page instead, for the person who uses the browser. If ``closesConnection`` is true,
/// the server then closes the connection; over HTTP/2, it resets only the stream.
package enum HTTPFault: Error, Hashable, Sendable {
    case hostMissing, hostRepeated, hostInvalid
    case versionNotSupported
    /// The request has both Content-Length and Transfer-Encoding.
    case lengthConflict
    /// Transfer-Encoding has another coding before a final `chunked`, for example `gzip, chunked`.
    case transferCodingUnsupported
    /// Transfer-Encoding does not end with `chunked`, has it more than once, or is in a request with HTTP/1.0.
    case transferCodingInvalid
    case bodyTooLarge(limit: Int)
    /// The method is CONNECT.
    case connectNotImplemented
    case headTooLarge, headMalformed
    /// The head or the body did not arrive within its time limit.
    case requestTooSlow
    /// `allow` is the value of the response's header Allow.
    case methodNotAllowed(allow: String)
    /// A path or a query that cannot be decoded, or has parameters that the route does not declare. The text is the
    /// `detail` of the problem document.
    case malformedTarget(String)

    /// Whether the server closes the connection after the response, because over HTTP/1.1 it cannot be sure where the
    /// next request begins.
    package var closesConnection: Bool {
        switch self {
        case .methodNotAllowed, .malformedTarget: false
        default: true
        }
    }

    /// The members of the problem document (RFC 9457).
    package var problem: (status: Int, code: String, title: String, detail: String) {
        switch self {
        case .hostMissing:
            (400, "malformed", "malformed request", "the header Host is missing; send it once: HTTP/1.1 requires it")
        case .hostRepeated:
            (400, "malformed", "malformed request", "the header Host occurs more than once; send it once")
        case .hostInvalid:
            (
                400, "malformed", "malformed request",
                "the header Host is invalid; send a host name with an optional port"
            )
        case .versionNotSupported:
            (
                505, "malformed", "HTTP version not supported",
                "the request's HTTP version is not supported; send HTTP/1.1"
            )
        case .lengthConflict:
            (
                400, "malformed", "malformed request",
                "Content-Length and Transfer-Encoding exclude each other; send one of them"
            )
        case .transferCodingUnsupported:
            (
                501, "notImplemented", "not implemented",
                "the request's Transfer-Encoding is not supported; send 'chunked' or a Content-Length"
            )
        case .transferCodingInvalid:
            (
                400, "malformed", "malformed request",
                "Transfer-Encoding must be exactly 'chunked', in an HTTP/1.1 request; or send a Content-Length"
            )
        case .bodyTooLarge(let limit):
            (413, "tooLarge", "too large", "the body is longer than \(limit) bytes, the limit of this server")
        case .connectNotImplemented:
            (501, "notImplemented", "not implemented", "the method CONNECT is not supported: this is not a proxy")
        case .headTooLarge:
            (
                431, "tooLarge", "header fields too large",
                "the target or the header fields are too large or too many; send at most 64 fields, 8 KiB each, 16 KiB in all"
            )
        case .headMalformed:
            (400, "malformed", "malformed request", "the received bytes are not an HTTP/1.1 request")
        case .requestTooSlow:
            (408, "requestTimeout", "request timeout", "the request did not arrive in time; send it without a pause")
        case .methodNotAllowed(let allow):
            (
                405, "methodNotAllowed", "method not allowed",
                "the path does not allow the method, expected one of \(allow)"
            )
        case .malformedTarget(let detail):
            (400, "malformed", "malformed request", detail)
        }
    }

    /// One fault of each kind, in the order of the declaration.
    package static let examples: [HTTPFault] = [
        .hostMissing, .hostRepeated, .hostInvalid, .versionNotSupported, .lengthConflict, .transferCodingUnsupported,
        .transferCodingInvalid, .bodyTooLarge(limit: 65_536), .connectNotImplemented, .headTooLarge, .headMalformed,
        .requestTooSlow, .methodNotAllowed(allow: "GET, HEAD"), .malformedTarget("the query cannot be decoded"),
    ]

    /// Converts an error that NIO's decoder reports. Returns nil for an error that the request did not cause.
    package init?(decoding error: any Error) {
        switch error {
        case HTTPParserError.headerOverflow: self = .headTooLarge
        case HTTPParserError.invalidVersion: self = .versionNotSupported
        case is HTTPParserError: self = .headMalformed
        default: return nil
        }
    }
}
