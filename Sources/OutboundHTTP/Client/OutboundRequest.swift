package import FoundationEssentials

/// One HTTP request with its whole body.
package struct OutboundRequest: Sendable {
    package var url: URL
    package var method: String
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]?

    package init(
        url: URL, method: String = "GET", headers: [(name: String, value: String)] = [], body: [UInt8]? = nil
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
    }
}

/// One HTTP response. Its body is whole if the client's ``ResponseBody`` setting is `collect`. With `discard`, the body
/// has only the first bytes that the setting keeps.
package struct OutboundResponse: Sendable {
    package let status: Int
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]

    package init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The value of the first header with this name. Ignores the case of the name.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// What the client does with the body of a response.
package enum ResponseBody: Hashable, Sendable {
    /// Reads the whole body, up to this number of bytes. A longer body is an error.
    case collect(upTo: Int)
    /// Reads the body and drops it, so that the connection can be used again. If the body has more than `upTo` bytes or
    /// takes longer than `within`, the client closes the connection and still returns the response. The response has
    /// the first bytes of the body, at most `keeping` bytes.
    case discard(upTo: Int, within: Duration, keeping: Int = 0)
}
