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

/// One HTTP response with its whole body, or with an empty one where the request's ``ResponseBody`` discards it.
package struct OutboundResponse: Sendable {
    package let status: Int
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]

    /// The first header of that name, in any case.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// What becomes of a response's body.
package enum ResponseBody: Hashable, Sendable {
    /// Read whole; a longer body is an error.
    case collect(upTo: Int)
    /// Read and dropped, so that the connection can be used again. A body that is longer, or takes longer, than this ends
    /// the connection; the response counts all the same.
    case discard(upTo: Int, within: Duration)
}
