import MerchantKeyClient

/// The exit status of `merchantkeyctl`.
package enum ExitStatus: Int32, Sendable {
    case done = 0
    /// The daemon or Apple refused the request, or the operation failed.
    case refused = 1
    case wrongUsage = 2
    /// The daemon can't be reached.
    case unreachable = 3
}

/// The error of a command that did not succeed.
package struct CommandFailure: Error, Hashable, Sendable {
    package let status: ExitStatus
    /// The text for standard error.
    package let message: String

    package init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// Maps an error of the client to an exit status and a message. No other code does this.
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
