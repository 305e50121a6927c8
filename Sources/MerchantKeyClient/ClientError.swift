package import WireAPI

/// Why a call to the daemon failed.
public enum ClientError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No response arrived: no process listens on the socket, the caller may not open it, or the call timed out.
    ///
    /// If the connection ended after the request was sent, the daemon may have executed the request.
    case unreachable(socketPath: String, why: String)
    /// The daemon refused the request.
    case refused(Refusal)
    /// The daemon's response does not follow its contract.
    case protocolViolation(String)
    /// An argument is invalid; nothing was sent.
    case malformed(String)

    /// One line, for people.
    public var description: String {
        switch self {
        case .unreachable(let socketPath, let why): "can't reach the daemon at \(socketPath): \(why)"
        case .refused(let refusal): refusal.description
        case .protocolViolation(let finding): "the daemon's response can't be read: \(finding)"
        case .malformed(let finding): finding
        }
    }
}

/// The daemon's refusal, an RFC 9457 problem.
public struct Refusal: Hashable, Sendable, CustomStringConvertible {
    /// The HTTP status code.
    public let status: Int
    /// For programs to branch on; its meaning never changes (`keyRevoked`, `forbidden`, …).
    public let code: String
    /// The code as a phrase.
    public let title: String
    /// What failed, why, and what to do. Never contains a secret.
    public let detail: String
    /// Identifies the request in the daemon's log.
    public let requestId: String
    /// Seconds after which a repeat can succeed, where the daemon knows.
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
