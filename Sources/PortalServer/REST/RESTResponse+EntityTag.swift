import Crypto
import HTTPTypes
import NIOCore
import RESTKit
import Vocabulary

extension RESTResponse {
    /// Adds an entity tag of the body. If the request's `If-None-Match` has this tag, the response becomes 304 without
    /// a body.
    func conditional(on headers: HTTPFields) -> RESTResponse {
        var response = self
        let tag = entityTag
        response.headers[.eTag] = tag
        // `private`: no shared cache stores the response. `no-cache`: a cache asks the server before each use.
        response.headers[.cacheControl] = "private, no-cache"
        guard Self.matches(tag, headers[values: .ifNoneMatch]) else { return response }
        response.status = .notModified
        response.headers[.contentType] = nil
        response.body = ByteBuffer()
        return response
    }

    /// A digest of the body, in quotation marks.
    var entityTag: String {
        "\"\(Hex.encode(Array(SHA256.hash(data: Array(body.readableBytesView)).prefix(16))))\""
    }

    /// Uses the weak comparison, as RFC 9110 section 13.1.2 requires.
    private static func matches(_ tag: String, _ values: [String]) -> Bool {
        values.flatMap { $0.split(separator: ",") }.contains { value in
            let candidate = value.filter { !$0.isWhitespace }
            return candidate == "*" || candidate == tag || candidate == "W/\(tag)"
        }
    }
}
