package import Logging
import ServiceLifecycle
import Vocabulary
package import WireAPI

/// Notifies systemd when the daemon is ready and when it begins to shut down, and updates the status text in between.
///
/// This service must be the last one of its group: the last service stops first, so the message about the shutdown is
/// sent before a server closes its socket.
package struct ServiceNotifications: Service {
    /// How often the status text is updated.
    private static let interval = Duration.seconds(10)

    private let notifier: SystemdNotifier
    private let servers: ServerReadiness
    private let health: @Sendable () -> HealthDocument
    private let logger: Logger

    package init(
        notifier: SystemdNotifier, servers: ServerReadiness, health: @escaping @Sendable () -> HealthDocument,
        logger: Logger
    ) {
        self.notifier = notifier
        self.servers = servers
        self.health = health
        self.logger = logger
    }

    package func run() async throws {
        // The only error is a cancellation: the daemon shuts down.
        try? await cancelWhenGracefulShutdown {
            try await servers.wait()
            var status = Self.status(of: health())
            if let failure = notifier.send(.ready(status: status)) {
                logger.error("systemd was not notified that the daemon is ready", metadata: ["error": "\(failure)"])
            }
            while true {
                try await Task.sleep(for: Self.interval)
                let newStatus = Self.status(of: health())
                if newStatus != status { notifier.send(.status(newStatus)) }
                status = newStatus
            }
        }
        notifier.send(.stopping)
    }

    /// The line that `systemctl status` shows.
    private static func status(of health: HealthDocument) -> String {
        let count = health.findings?.count ?? 0
        return "\(health.ready ? "serving" : "serving, but not ready"); \(count.counted("finding"))"
    }
}
