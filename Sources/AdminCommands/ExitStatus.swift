import MerchantKeyClient

/// What a script learns from the program's end.
package enum ExitStatus: Int32, Sendable {
    case done = 0
    /// By the daemon or by Apple, or failed.
    case refused = 1
    case wrongUsage = 2
    /// The daemon can't be reached.
    case unreachable = 3
}

/// Why a command ends without having done its work.
package struct CommandFailure: Error, Hashable, Sendable {
    package let status: ExitStatus
    /// For standard error.
    package let message: String

    package init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// The one table from what the client met to how the program ends.
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

/// How `status --check` ends: monitoring's numbers, not ``ExitStatus``'s meanings.
struct CheckVerdict: Error {
    let status: Int32
}
