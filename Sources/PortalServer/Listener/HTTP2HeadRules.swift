import HTTPKit
import HTTPTypes
import NIOHTTP1

/// Checks the head of an HTTP/2 request. NIO has already refused a head that RFC 9113 does not permit, for example one
/// with `Transfer-Encoding`.
enum HTTP2HeadRules {
    /// The same limit as for HTTP/1.1: ``NIOHTTPDecoderLimitConfiguration/server``.
    private static let maximumFields = 64
    private static let maximumPathBytes = 8 * 1024

    /// - Parameter bodyLimit: the longest request body that any route of the server accepts, in bytes.
    /// - Throws: the fault for the first rule that the head violates.
    static func check(_ head: HTTPRequest, bodyLimit: Int) throws(HTTPFault) {
        let path = head.path ?? ""
        guard head.headerFields.count <= maximumFields, path.utf8.count <= maximumPathBytes else { throw .headTooLarge }
        guard head.method != .connect else { throw .connectNotImplemented }
        // The pseudo-header `:authority` takes the place of Host. If a request has both, they must be equal (RFC 9113
        // section 8.3.1).
        var hosts = head.headerFields.filter { $0.name.canonicalName == "host" }.map(\.value)
        if let authority = head.authority, hosts != [authority] { hosts.append(authority) }
        var equivalent = HTTPRequestHead(version: .http1_1, method: .GET, uri: path)
        for host in hosts { equivalent.headers.add(name: "host", value: host) }
        for length in head.headerFields[values: .contentLength] {
            equivalent.headers.add(name: "content-length", value: length)
        }
        try RequestHeadRules.check(equivalent, bodyLimit: bodyLimit)
    }
}
