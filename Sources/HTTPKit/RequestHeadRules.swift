package import NIOHTTP1

/// The rules of RFC 9112 for a request's head beyond its syntax, which NIO's decoder checks.
package enum RequestHeadRules {
    /// - Parameter bodyLimit: the longest body that any route of the server takes, in bytes.
    /// - Throws: the fault for the first rule that the head violates.
    package static func check(_ head: HTTPRequestHead, bodyLimit: Int) throws(HTTPFault) {
        guard head.version == .http1_1 || head.version == .http1_0 else { throw .versionNotSupported }
        try checkHost(head)
        guard head.method != .CONNECT else { throw .connectNotImplemented }
        try checkFraming(head, bodyLimit: bodyLimit)
    }

    /// RFC 9112 section 3.2: exactly one Host, with a valid value; only HTTP/1.0 may leave it out.
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

    /// RFC 3986 section 3.2.2: `uri-host [":" port]`. Empty where the target has no authority.
    private static func isHostCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: hostMarks.contains(byte)
        }
    }

    private static let hostMarks = Array("-._~%!$&'()*+,;=:[]".utf8)

    /// RFC 9112 section 6: the length of the body must be certain, otherwise a request could be smuggled behind it.
    private static func checkFraming(_ head: HTTPRequestHead, bodyLimit: Int) throws(HTTPFault) {
        let codings = head.headers[canonicalForm: "transfer-encoding"]
        if !codings.isEmpty {
            guard !head.headers.contains(name: "content-length") else { throw .lengthConflict }
            guard head.version == .http1_1, codings.last?.lowercased() == "chunked",
                codings.count(where: { $0.lowercased() == "chunked" }) == 1
            else { throw .transferCodingMisplaced }
            guard codings.count == 1 else { throw .transferCodingUnsupported }
        } else if let length = head.headers.first(name: "content-length") {
            // A number that does not fit an Int is greater than any limit.
            guard let length = Int(length), length <= bodyLimit else { throw .bodyTooLarge(limit: bodyLimit) }
        }
    }

    /// Whether the connection ends with the response to this request.
    ///
    /// After an offered upgrade, which the servers ignore (RFC 9110 section 7.8), NIO's decoder reads no further.
    package static func endsConnection(_ head: HTTPRequestHead) -> Bool {
        !head.isKeepAlive || head.method == .CONNECT || head.headers.contains(name: "upgrade")
    }
}
