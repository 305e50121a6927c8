import Glibc
import LocalSocket

/// What systemd passes to the daemon in environment variables: listening sockets, the address for notifications, and
/// the interval of the watchdog. All of them are absent if systemd did not start the daemon.
package struct SystemdEnvironment: Sendable {
    private static let variableNames =
        InheritedSockets.variableNames + ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]

    let sockets: InheritedSockets
    package let notifier: SystemdNotifier
    /// Within this time, systemd expects the next ``SystemdNotifier/Message/watchdog``; nil if it expects none.
    package let watchdogInterval: Duration?

    /// Reads the variables and removes them, so that the programs that the daemon starts do not take the daemon's
    /// sockets or notify systemd in its place. Call this before another thread reads the environment.
    static func take() -> SystemdEnvironment {
        var variables: [String: String] = [:]
        for name in variableNames {
            if let value = getenv(name) { variables[name] = String(cString: value) }
            unsetenv(name)
        }
        return SystemdEnvironment(variables)
    }

    package init(_ variables: [String: String], process: Int32 = getpid()) {
        sockets = InheritedSockets(variables, process: process)
        notifier = SystemdNotifier(address: variables["NOTIFY_SOCKET"])
        let watchedProcess = variables["WATCHDOG_PID"].map { Int32($0) } ?? process
        let microseconds = variables["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdogInterval = watchedProcess == process && microseconds > 0 ? .microseconds(microseconds) : nil
    }
}
