package import WireAPI

/// Why a call to the daemon failed.
public enum ClientError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No response arrived. For example, no process listens on the socket, or the call timed out.
    ///
    /// If the request was sent before the connection ended or the call timed out, the daemon may have executed the
    /// request.
    case unreachable(socketPath: String, why: String)
    /// The operating system does not let this process open the socket or enter the socket's directory. Nothing was
    /// sent.
    case notPermitted(socketPath: String, why: String)
    /// The daemon refused the request.
    case refused(Refusal)
    /// The daemon's response does not conform to the daemon's OpenAPI document. The text says how.
    case protocolViolation(String)
    /// An argument is invalid, for the reason in the text; nothing was sent.
    case malformed(String)

    /// A human-readable description in one line.
    public var description: String {
        switch self {
        case .unreachable(let socketPath, let why), .notPermitted(let socketPath, let why):
            "can't reach the daemon at \(socketPath): \(why)"
        case .refused(let refusal): refusal.description
        case .protocolViolation(let why): "the daemon's response can't be read: \(why)"
        case .malformed(let why): why
        }
    }
}

/// The daemon's refusal of a request, with the fields of its problem document (RFC 9457).
public struct Refusal: Hashable, Sendable, CustomStringConvertible {
    /// The HTTP status code.
    public let status: Int
    /// The kind of refusal, such as `keyRevoked` or `forbidden`. Programs can rely on the code, because the meaning of
    /// a code never changes.
    public let code: String
    /// The code as a human-readable phrase.
    public let title: String
    /// What failed, why, and what to do. Never contains a secret.
    public let detail: String
    /// Identifies the request in the daemon's log.
    public let requestId: String
    /// After how many seconds the caller should repeat the request; nil if the response has no `Retry-After`.
    public let retryAfter: Int?

    package init(_ problem: Problem, retryAfter: Int? = nil) {
        self.retryAfter = retryAfter
        status = problem.status
        code = problem.code
        title = problem.title
        detail = problem.detail
        requestId = problem.requestId
    }

    /// Code and detail.
    public var description: String { "\(code): \(detail)" }
}
