/// Requests that test a server's conformance to RFC 9112. The tests of several servers share the table. Each request
/// uses a connection of its own.
///
/// The server must have `GET /v1/health`. The client keeps its sending side open.
package struct HTTPRuleCase: Sendable, CustomStringConvertible {
    package let name: String
    package let bytes: String
    package let status: Int

    package var description: String { name }

    private init(_ name: String, _ status: Int, _ lines: String..., body: String = "") {
        self.name = name
        self.status = status
        bytes = lines.map { $0 + "\r\n" }.joined() + "\r\n" + body
    }

    private static let long = String(repeating: "a", count: 9000)

    /// The server responds with a problem document and closes the connection.
    package static let refused: [HTTPRuleCase] = [
        HTTPRuleCase("no request", 400, "hello"),
        HTTPRuleCase("a TLS handshake", 400, "\u{16}\u{3}\u{1}hello"),
        HTTPRuleCase("HTTP/9.9", 505, "GET /v1/health HTTP/9.9", "Host: x"),
        HTTPRuleCase("HTTP/2.0", 505, "GET /v1/health HTTP/2.0", "Host: x"),
        HTTPRuleCase("a header without a colon", 400, "GET /v1/health HTTP/1.1", "Host: x", "bad header"),
        HTTPRuleCase("no Host", 400, "GET /v1/health HTTP/1.1"),
        HTTPRuleCase("two Hosts", 400, "GET /v1/health HTTP/1.1", "Host: x", "Host: x"),
        HTTPRuleCase("a Host with a path", 400, "GET /v1/health HTTP/1.1", "Host: x/y"),
        HTTPRuleCase("CONNECT", 501, "CONNECT example.com:443 HTTP/1.1", "Host: example.com:443"),
        HTTPRuleCase(
            "two lengths", 400, "POST /v1/health HTTP/1.1", "Host: x", "Content-Length: 5", "Content-Length: 6",
            body: "xxxxxx"),
        HTTPRuleCase("a negative length", 400, "POST /v1/health HTTP/1.1", "Host: x", "Content-Length: -5"),
        HTTPRuleCase("a length in words", 400, "POST /v1/health HTTP/1.1", "Host: x", "Content-Length: five"),
        HTTPRuleCase(
            "a length of 2^63", 413, "POST /v1/health HTTP/1.1", "Host: x", "Content-Length: 9223372036854775808"),
        HTTPRuleCase(
            "a length past 2^64", 400, "POST /v1/health HTTP/1.1", "Host: x", "Content-Length: 18446744073709551617"),
        HTTPRuleCase(
            "a length of a terabyte", 413, "POST /v1/health HTTP/1.1", "Host: x", "Content-Length: 1099511627776"),
        HTTPRuleCase(
            "a length and a transfer coding", 400, "POST /v1/health HTTP/1.1", "Host: x", "Content-Length: 3",
            "Transfer-Encoding: chunked", body: "0\r\n\r\n"),
        HTTPRuleCase(
            "gzip, chunked", 501, "POST /v1/health HTTP/1.1", "Host: x", "Transfer-Encoding: gzip, chunked",
            body: "0\r\n\r\n"),
        HTTPRuleCase(
            "chunked in HTTP/1.0", 400, "POST /v1/health HTTP/1.0", "Host: x", "Transfer-Encoding: chunked",
            body: "0\r\n\r\n"),
        HTTPRuleCase(
            "a chunk without a length", 400, "POST /v1/merchants HTTP/1.1", "Host: x", "Transfer-Encoding: chunked",
            body: "zz\r\n"),
        HTTPRuleCase("a long target", 431, "GET /\(long) HTTP/1.1", "Host: x"),
        HTTPRuleCase("a long header", 431, "GET /v1/health HTTP/1.1", "Host: x", "X: \(long)"),
        HTTPRuleCase(
            "many headers", 431, "GET /v1/health HTTP/1.1", "Host: x",
            (0..<70).map { "X-\($0): 1" }.joined(separator: "\r\n")),
        HTTPRuleCase(
            "wide headers", 431, "GET /v1/health HTTP/1.1", "Host: x",
            (0..<4).map { "X-\($0): \(String(repeating: "b", count: 5000))" }.joined(separator: "\r\n")),
    ]

    /// The server responds to the request and closes the connection.
    package static let answeredOnce: [HTTPRuleCase] = [
        HTTPRuleCase(
            "an offered upgrade to HTTP/2", 200, "GET /v1/health HTTP/1.1", "Host: x",
            "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA"),
        HTTPRuleCase("HTTP/1.0 without Host", 200, "GET /v1/health HTTP/1.0"),
        HTTPRuleCase("Connection: close", 200, "GET /v1/health HTTP/1.1", "Host: x", "Connection: close"),
        HTTPRuleCase(
            "an absolute target", 200, "GET http://x/v1/health HTTP/1.1", "Host: x", "Connection: close"),
    ]
}
