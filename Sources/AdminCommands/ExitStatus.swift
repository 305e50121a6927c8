import MerchantKeyClient

/// The exit status of the program.
package enum ExitStatus: Int32, Sendable {
    case done = 0
    /// Refused by the daemon or by Apple, or failed.
    case refused = 1
    case wrongUsage = 2
    /// The daemon can't be reached.
    case unreachable = 3
}

/// The error of a command that did not succeed.
package struct CommandFailure: Error, Hashable, Sendable {
    package let status: ExitStatus
    /// For standard error.
    package let message: String

    package init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// The one table from client errors to exit statuses.
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

/// The exit status of `status --check`, which follows the monitoring convention instead of ``ExitStatus``.
struct MonitoringExit: Error {
    let status: Int32
}
