import LocalSocket

/// The result of a reload that SIGHUP began.
///
/// `merchantkeyd reload` sends the signal, and receives the result on a socket in the state directory. So it needs no
/// permit: only root and the daemon's user can send the signal and enter the directory.
enum ReloadResult: Equatable, Sendable {
    case reloaded
    case refused(reason: String)

    /// How long the daemon waits, in seconds, if the receiver does not read.
    private static let longestWait = 1

    static func socketPath(in stateDirectory: String) -> String { "\(stateDirectory)/reload-result.sock" }

    /// Sends the result to the process that waits for it. Does nothing if there is none.
    func report(in stateDirectory: String) {
        guard let address = UnixAddress(path: Self.socketPath(in: stateDirectory)) else { return }
        _ = UnixDatagram.send(text, to: address, waitingAtMost: Self.longestWait)
    }

    init?(_ text: String) {
        if text == Self.success {
            self = .reloaded
        } else if text.hasPrefix(Self.refusal) {
            self = .refused(reason: String(text.dropFirst(Self.refusal.count)))
        } else {
            return nil
        }
    }

    private static let success = "reloaded"
    private static let refusal = "refused: "

    /// One message.
    private var text: String {
        switch self {
        case .reloaded: Self.success
        // A reason that does not fit into one message is truncated.
        case .refused(let reason):
            String(decoding: "\(Self.refusal)\(reason)".utf8.prefix(UnixDatagramReceiver.longestMessage), as: UTF8.self)
        }
    }
}
