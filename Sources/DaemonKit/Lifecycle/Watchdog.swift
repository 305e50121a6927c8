package import Logging
import ServiceLifecycle

/// Notifies systemd that the daemon is alive, as long as the daemon's own check passes. If a part of the daemon hangs,
/// the daemon sends no notification, and systemd kills and restarts the daemon.
package struct Watchdog: Service {
    private let interval: Duration
    private let check: LivenessCheck
    private let notifier: SystemdNotifier
    private let logger: Logger

    /// - Parameter interval: systemd kills the daemon if the next notification takes longer.
    package init(every interval: Duration, check: LivenessCheck, notifier: SystemdNotifier, logger: Logger) {
        self.interval = interval
        self.check = check
        self.notifier = notifier
        self.logger = logger
    }

    package func run() async throws {
        // The only error is a cancellation: the daemon shuts down.
        try? await cancelWhenGracefulShutdown {
            while true {
                let silent = await check.silentParts(after: interval / 2)
                try Task.checkCancellation()
                if silent.isEmpty {
                    notifier.send(.watchdog)
                    // A round that passes takes at most half the interval, so two notifications are at most three
                    // quarters of the interval apart.
                    try await Task.sleep(for: interval / 4)
                } else {
                    // The next round begins at once, so that a late answer still reaches systemd in time.
                    logger.critical(
                        "a part of the daemon does not answer: systemd will restart the daemon unless it answers soon",
                        metadata: ["waitingFor": "\(silent.joined(separator: ", "))"])
                }
            }
        }
    }
}
