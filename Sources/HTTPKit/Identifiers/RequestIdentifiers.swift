/// The identifiers of a request: `X-Request-Id` and `traceparent`.
///
/// A class, so that a request without identifiers, which is the usual case, costs one nil pointer.
package final class RequestIdentifiers: Sendable {
    /// The client's identifier, or an identifier that the server generated because it needed one; nil if there is
    /// neither.
    package let requestId: String?
    /// Whether ``requestId`` is the client's, so that the response repeats it.
    package let isRequestIdOfClient: Bool
    /// nil if the client sent none, or an invalid one.
    package let trace: TraceContext?

    /// - Parameters:
    ///   - requestId: the identifier that the server uses for the request: the client's, or one that the server
    ///     generated.
    ///   - given: the identifiers that the client gave; nil if it gave none.
    package init(requestId: String, given: RequestIdentifiers?) {
        self.requestId = requestId
        isRequestIdOfClient = given?.requestId == requestId && given?.isRequestIdOfClient == true
        trace = given?.trace
    }

    /// - Parameters:
    ///   - requestIds: the values of all header fields `X-Request-Id`.
    ///   - traceparents: the values of all header fields `traceparent`.
    /// - Returns: nil if no value is valid. A header that occurs twice is ignored, because nothing says which value
    ///   applies.
    package init?(requestIds: [String], traceparents: [String]) {
        requestId = requestIds.count == 1 ? Self.validated(requestIds[0]) : nil
        isRequestIdOfClient = requestId != nil
        trace = traceparents.count == 1 ? TraceContext(traceparent: traceparents[0]) : nil
        guard requestId != nil || trace != nil else { return nil }
    }

    /// The longest `X-Request-Id`, in bytes.
    package static let longestRequestId = 128

    /// Returns the identifier if it has 1 to ``longestRequestId`` letters, digits and characters of ``punctuation``, as
    /// the identifiers of common proxies do. Other characters could mislead a reader of the log.
    private static func validated(_ requestId: String) -> String? {
        guard (1...longestRequestId).contains(requestId.utf8.count), requestId.utf8.allSatisfy(isPermitted) else {
            return nil
        }
        return requestId
    }

    private static func isPermitted(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: punctuation.contains(byte)
        }
    }

    private static let punctuation = Array("-._:=+/@".utf8)
}
