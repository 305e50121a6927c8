import Glibc
import LocalSocket

/// Reports the state of the daemon to systemd, see sd_notify(3). Does nothing without systemd.
package struct SystemdNotifier: Sendable {
    package enum Message: Hashable, Sendable {
        /// The next step of the start may take this time, which can be longer than `TimeoutStartSec=` of the unit.
        case starting(status: String, longest: Duration)
        /// The daemon serves. systemd then starts the units that wait for the daemon.
        case ready(status: String)
        case status(String)
        /// A reload begins.
        case reloading
        /// The reload is finished.
        case reloaded
        case stopping
        /// The daemon is alive. If this message does not arrive in time, systemd kills and restarts the daemon.
        case watchdog
    }

    /// How long a message waits, in seconds, if systemd does not read. A message that is soon sent again does not wait,
    /// because the wait blocks a thread.
    private static func longestWait(of message: Message) -> Int {
        switch message {
        case .watchdog, .status: 0
        case .starting, .ready, .reloading, .reloaded, .stopping: 5
        }
    }

    /// nil without systemd.
    private let address: UnixAddress?

    /// - Parameter address: the value of the environment variable `NOTIFY_SOCKET`: an absolute path, or `@` and the
    ///   name of an abstract socket.
    package init(address: String?) { self.address = address.flatMap { UnixAddress(systemd: $0) } }

    /// - Returns: why systemd did not get the message; nil if it did, or if there is no systemd.
    @discardableResult package func send(_ message: Message) -> String? {
        guard let address else { return nil }
        let errorNumber = UnixDatagram.send(message.text, to: address, waitingAtMost: Self.longestWait(of: message))
        return errorNumber == 0 ? nil : String(cString: strerror(errorNumber))
    }

    /// Reports the beginning and the end of a reload.
    func duringReload<Result: Sendable>(_ reload: () async throws -> Result) async rethrows -> Result {
        send(.reloading)
        defer { send(.reloaded) }
        return try await reload()
    }
}

extension SystemdNotifier.Message {
    /// The assignments of the message, one on each line.
    fileprivate var text: String {
        switch self {
        case .starting(let status, let longest):
            "EXTEND_TIMEOUT_USEC=\(longest.components.seconds * 1_000_000)\n\(Self.assignment(ofStatus: status))"
        case .ready(let status): "READY=1\n\(Self.assignment(ofStatus: status))"
        case .status(let status): Self.assignment(ofStatus: status)
        case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(Self.monotonicMicroseconds)"
        case .reloaded: "READY=1"
        case .stopping: "STOPPING=1\nSTATUS=answering the requests that have arrived"
        case .watchdog: "WATCHDOG=1"
        }
    }

    /// A line feed in the status would begin another assignment.
    private static func assignment(ofStatus status: String) -> String {
        "STATUS=\(status.split(whereSeparator: \.isNewline).joined(separator: " "))"
    }

    private static var monotonicMicroseconds: Int {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return now.tv_sec * 1_000_000 + now.tv_nsec / 1000
    }
}
