import HTTPKit
import NIOHTTP1

extension RequestIdentifiers {
    /// The valid identifiers in the header fields of a request; nil if there are none.
    ///
    /// Compares the lengths of the names first, because this runs for every request, and few requests have such fields.
    static func identifiers(in headers: HTTPHeaders) -> RequestIdentifiers? {
        var requestIds: [String] = []
        var traceparents: [String] = []
        for (name, value) in headers {
            switch name.utf8.count {
            case 12 where name.lowercased() == "x-request-id": requestIds.append(value)
            case 11 where name.lowercased() == "traceparent": traceparents.append(value)
            default: break
            }
        }
        guard !requestIds.isEmpty || !traceparents.isEmpty else { return nil }
        return RequestIdentifiers(requestIds: requestIds, traceparents: traceparents)
    }

    /// The header fields of the response, as they are sent: the client's `X-Request-Id`, and a `traceparent` with the
    /// client's trace and the server's span. Empty if the client sent neither.
    ///
    /// - Parameter hasRequestId: whether the response already has the field `X-Request-Id`.
    func fields(hasRequestId: Bool) -> String {
        var fields = ""
        if let requestId, isRequestIdOfClient, !hasRequestId { fields += "X-Request-Id: \(requestId)\r\n" }
        if let trace { fields += "traceparent: \(trace.traceparent)\r\n" }
        return fields
    }
}
