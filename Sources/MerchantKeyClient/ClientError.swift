package import WireAPI

/// Why a call to the daemon did not bring what was asked for.
public enum ClientError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No answer came: nobody listens on the socket, the caller may not open it, or time ran out.
    ///
    /// Where the connection ended after the request was sent, the daemon may have done what was asked.
    case unreachable(socketPath: String, why: String)
    /// The daemon answered, and said no.
    case refused(Refusal)
    /// The daemon answered with something that its contract does not know.
    case protocolViolation(String)
    /// What was to be sent is not what it must be; nothing was sent.
    case malformed(String)

    /// One line, for people.
    public var description: String {
        switch self {
        case .unreachable(let socketPath, let why): "can't reach the daemon at \(socketPath): \(why)"
        case .refused(let refusal): refusal.description
        case .protocolViolation(let finding): "the daemon's answer can't be read: \(finding)"
        case .malformed(let finding): finding
        }
    }
}

/// The daemon's refusal: an RFC 9457 problem.
public struct Refusal: Hashable, Sendable, CustomStringConvertible {
    /// The HTTP status code.
    public let status: Int
    /// What callers branch on; never changes its meaning (`keyRevoked`, `forbidden`, …).
    public let code: String
    /// The code in words.
    public let title: String
    /// What was found and what was expected. Never a secret.
    public let detail: String
    /// Names the request in the daemon's log.
    public let requestId: String
    /// Seconds until asking again can help, where the daemon said so.
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
