package import MerchantKeyClient

/// An exit status of `merchantkeyctl`.
package enum ExitStatus: Int32, Sendable {
    case done = 0
    /// The daemon or Apple refused the request, or the command failed for another reason, such as an unreadable file.
    case failed = 1
    case wrongUsage = 2
    /// The daemon can't be reached, or this user has no permission to open its socket.
    case unreachable = 3
}

/// An error that stops a command, with the program's exit status and the text for standard error.
package struct CommandFailure: Error, Hashable, Sendable {
    package let status: ExitStatus
    package let message: String
    /// The daemon's refusal, if it is the cause.
    package let refusal: Refusal?
    /// The code in the JSON form of the error; nil if the daemon's code or the exit status determines it.
    package let code: String?

    package init(_ status: ExitStatus, _ message: String, refusal: Refusal? = nil, code: String? = nil) {
        self.status = status
        self.message = message
        self.refusal = refusal
        self.code = code
    }

    /// The prefix of some messages that do not come from the daemon.
    static let programPrefix = "merchantkeyctl: "

    /// The message without the name of the program.
    var reason: String {
        message.hasPrefix(Self.programPrefix) ? String(message.dropFirst(Self.programPrefix.count)) : message
    }

    /// Maps a failed call to the daemon to an exit status and a message.
    init(_ error: ClientError) {
        switch error {
        case .unreachable: self.init(.unreachable, "\(Self.programPrefix)\(error)")
        case .notPermitted: self.init(.unreachable, "\(Self.programPrefix)\(error)", code: "notPermitted")
        case .refused(let refusal):
            self.init(
                .failed, "refused: \(refusal)" + (refusal.requestId.isEmpty ? "" : " (request \(refusal.requestId))"),
                refusal: refusal)
        case .protocolViolation, .malformed: self.init(.failed, "\(Self.programPrefix)\(error)")
        }
    }
}

/// Thrown by `status --check`, so that the program exits with the status of a monitoring plugin: 0 OK, 1 warning,
/// 2 critical, 3 unknown.
struct MonitoringExit: Error {
    let status: Int32
}
