import FoundationEssentials
package import HTTPKit
package import MerchantCore
package import NIOCore
import NIOHTTP1
import WireAPI

/// An error response whose body is a problem document (RFC 9457). All servers of the daemon use this type.
package struct ProblemResponse: Sendable {
    package let status: Int
    /// The header fields: `Content-Type` and `X-Request-Id`; `Retry-After` and `Allow` if the error has a value for
    /// them.
    package let fields: [(name: String, value: String)]
    package let body: ByteBuffer

    private init(_ problem: Problem, retryAfter: Int? = nil, allow: String? = nil) {
        status = problem.status
        var fields = [("Content-Type", Problem.mediaType), ("X-Request-Id", problem.requestId)]
        if let retryAfter { fields.append(("Retry-After", String(retryAfter))) }
        if let allow { fields.append(("Allow", allow)) }
        self.fields = fields
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            body = ByteBuffer(bytes: try encoder.encode(problem))
        } catch {
            preconditionFailure("strings and a number always encode as JSON: \(error)")
        }
    }

    /// For an internal error, the response does not contain the cause. The log contains the cause with the same request
    /// identifier. The same applies to errors about usage information, because the devices of the merchants' customers
    /// receive them.
    package init(_ error: MerchantError, requestId: String) {
        let (status, title) = ProblemTable.status(of: error.code)
        let detail =
            switch error.code {
            case .internalError: "internal error; the daemon's log contains the cause with this requestId"
            case .usageInformationFailed, .usageInformationUnavailable:
                "there is no usage information now; the daemon's log contains the cause with this requestId"
            default: error.detail
            }
        var problem = Problem(
            status: status, code: error.code.rawValue, title: title, detail: detail, requestId: requestId)
        if !error.findings.isEmpty { problem.findings = error.findings.map(InputFindingDocument.init) }
        self.init(
            problem,
            retryAfter: error.retryAfter ?? ProblemTable.retryAfter(error.code))
    }

    package init(_ fault: HTTPFault, requestId: String) {
        let (status, code, title, detail) = fault.problem
        var allow: String?
        if case .methodNotAllowed(let methods) = fault { allow = methods }
        self.init(
            Problem(status: status, code: code, title: title, detail: detail, requestId: requestId), allow: allow)
    }

    /// The complete HTTP/1.1 response as bytes, with `Connection: close`. Used for a refused connection, whose channel
    /// has no HTTP encoder.
    package var closingMessage: ByteBuffer {
        var message = ByteBuffer(
            string: "HTTP/1.1 \(status) \(HTTPResponseStatus(statusCode: status).reasonPhrase)\r\n")
        for (name, value) in fields { message.writeString("\(name): \(value)\r\n") }
        message.writeString("Content-Length: \(body.readableBytes)\r\nConnection: close\r\n\r\n")
        message.writeImmutableBuffer(body)
        return message
    }
}
