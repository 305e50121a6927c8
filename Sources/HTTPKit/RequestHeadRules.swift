package import NIOHTTP1

/// Checks the rules of RFC 9112 for the head of a request. NIO's decoder checks only the syntax of the head.
package enum RequestHeadRules {
    /// - Parameter bodyLimit: the longest request body that any route of the server accepts, in bytes.
    /// - Throws: the fault for the first rule that the head violates.
    package static func check(_ head: HTTPRequestHead, bodyLimit: Int) throws(HTTPFault) {
        guard head.version == .http1_1 || head.version == .http1_0 else { throw .versionNotSupported }
        try checkHost(head)
        guard !head.method.isCONNECT else { throw .connectNotImplemented }
        try checkFraming(head, bodyLimit: bodyLimit)
    }

    /// RFC 9112 section 3.2: a request has exactly one header Host with a valid value. Only an HTTP/1.0 request may
    /// have no Host.
    private static func checkHost(_ head: HTTPRequestHead) throws(HTTPFault) {
        var hosts = head.headers.lazy.filter { $0.name.utf8.count == 4 && $0.name.lowercased() == "host" }
            .makeIterator()
        guard let host = hosts.next()?.value else {
            guard head.version == .http1_0 else { throw .hostMissing }
            return
        }
        guard hosts.next() == nil else { throw .hostRepeated }
        guard host.utf8.allSatisfy(isHostCharacter) else { throw .hostInvalid }
    }

    /// Whether `uri-host [":" port]` may contain the byte (RFC 3986 section 3.2.2). The whole value may be empty:
    /// clients send an empty Host for a target without an authority.
    private static func isHostCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: hostPunctuation.contains(byte)
        }
    }

    private static let hostPunctuation = Array("-._~%!$&'()*+,;=:[]".utf8)

    /// RFC 9112 section 6: the length of the body must be unambiguous. Otherwise a client and the server could disagree
    /// about where the next request begins (request smuggling).
    private static func checkFraming(_ head: HTTPRequestHead, bodyLimit: Int) throws(HTTPFault) {
        let codings = head.headers[canonicalForm: "transfer-encoding"]
        if !codings.isEmpty {
            guard !head.headers.contains(name: "content-length") else { throw .lengthConflict }
            guard head.version == .http1_1, codings.last?.lowercased() == "chunked",
                codings.count(where: { $0.lowercased() == "chunked" }) == 1
            else { throw .transferCodingInvalid }
            guard codings.count == 1 else { throw .transferCodingUnsupported }
        } else if let length = head.headers.first(name: "content-length") {
            // NIO's decoder has already refused a repeated Content-Length, and a value that is not a number. A number
            // that does not fit an Int is greater than any limit.
            guard let length = Int(length), length <= bodyLimit else { throw .bodyTooLarge(limit: bodyLimit) }
        }
    }

    /// Whether the connection ends with the response to this request.
    ///
    /// The servers ignore an offered upgrade, as RFC 9110 section 7.8 permits. The connection ends nevertheless,
    /// because NIO's decoder reads nothing after a request that offers an upgrade.
    package static func endsConnection(_ head: HTTPRequestHead) -> Bool {
        !head.isKeepAlive || head.method.isCONNECT || head.headers.contains(name: "upgrade")
    }
}
