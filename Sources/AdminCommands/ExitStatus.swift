import MerchantKeyClient

/// The exit status of `merchantkeyctl`.
package enum ExitStatus: Int32, Sendable {
    case done = 0
    /// The daemon or Apple refused the request, or the command failed for another reason, such as an unreadable file.
    case refused = 1
    case wrongUsage = 2
    /// The daemon can't be reached.
    case unreachable = 3
}

/// An error that ends a command, with the program's exit status and the text for standard error.
package struct CommandFailure: Error, Hashable, Sendable {
    package let status: ExitStatus
    package let message: String

    package init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// Maps a failed call to the daemon to an exit status and a message.
    init(_ error: ClientError) {
        switch error {
        case .unreachable: self.init(.unreachable, "merchantkeyctl: \(error)")
        case .refused(let refusal):
            self.init(
                .refused, "refused: \(refusal)" + (refusal.requestId.isEmpty ? "" : " (request \(refusal.requestId))"))
        case .protocolViolation, .malformed: self.init(.refused, "merchantkeyctl: \(error)")
        }
    }
}

/// Thrown by `status --check`, to end the program with the exit status of a monitoring plugin: 0 OK, 1 warning, 2
/// critical, 3 unknown.
struct MonitoringExit: Error {
    let status: Int32
}
