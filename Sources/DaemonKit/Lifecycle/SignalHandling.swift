import Logging
import ServiceLifecycle
import UnixSignals

/// Reloads the settings on SIGHUP, and ignores SIGUSR1 and SIGUSR2. The group of services handles the signals that
/// shut the daemon down.
struct SignalHandling: Service {
    let signals: DaemonSignals
    let servers: ServerReadiness
    let reload: @Sendable () async -> Void
    let logger: Logger

    func run() async throws {
        // The only error is a cancellation: the daemon shuts down.
        try? await cancelWhenGracefulShutdown {
            // A reload reports to systemd that the daemon is ready again, so it must not come before the daemon is
            // ready.
            try await servers.wait()
            for await signal in signals.received {
                switch signal {
                case .sighup: await reload()
                default: logger.notice("signal ignored", metadata: ["signal": "\(signal)"])
                }
            }
        }
    }
}
