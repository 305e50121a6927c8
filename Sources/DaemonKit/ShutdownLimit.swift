import Dispatch
import Glibc
import HTTPKit
import Logging
import ServiceLifecycle
import Synchronization

/// Limits the duration of a shutdown: after ``length``, logs which service did not stop, and terminates the process.
///
/// No acknowledged change is lost, because each change is on stable storage before it is acknowledged.
final class ShutdownLimit: Sendable {
    /// Each server may use a share of this time to finish its requests, see ``ShutdownBudget``.
    static let length = ShutdownBudget.limit

    private struct State {
        /// Whether the timer was started.
        var isTimerStarted = false
        /// The services that run, by their positions in the group.
        var running: [Int: any Service] = [:]
        var signals: [any DispatchSourceSignal] = []
    }

    private let logger: Logger
    private let state = Mutex(State())
    /// A queue with a thread of its own, which runs even if all threads of the services hang.
    private let queue = DispatchQueue(label: "shutdown limit")

    init(logger: Logger) { self.logger = logger }

    fileprivate func watchSignals() {
        state.withLock { state in
            for signal in [SIGTERM, SIGINT, SIGQUIT] {
                let source = DispatchSource.makeSignalSource(signal: signal, queue: queue)
                source.setEventHandler { [weak self] in self?.startTimer() }
                source.activate()
                state.signals.append(source)
            }
        }
    }

    fileprivate func didStart(_ position: Int, _ service: any Service) {
        state.withLock { $0.running[position] = service }
    }

    /// Also starts the timer, because a service stops only if the daemon shuts down or the service has failed.
    fileprivate func didStop(_ position: Int) {
        state.withLock { $0.running[position] = nil }
        startTimer()
    }

    private func startTimer() {
        let isFirst = state.withLock { state in
            defer { state.isTimerStarted = true }
            return !state.isTimerStarted
        }
        guard isFirst else { return }
        queue.asyncAfter(deadline: .now() + .seconds(Int(Self.length.components.seconds))) { self.terminate() }
    }

    private func terminate() {
        // If the write of the log line hangs too, SIGALRM terminates the process after 2 seconds.
        signal(SIGALRM, SIG_DFL)
        alarm(2)
        // Services stop in reverse order, so the last one that still runs is the one that hangs.
        let hanging = state.withLock { $0.running.max { $0.key < $1.key }?.value }.map { NamedService.name(of: $0) }
        logger.critical(
            "the shutdown took too long: merchantkeyd exits now",
            metadata: [
                "seconds": "\(Self.length.components.seconds)",
                "waitedFor": "\(hanging ?? "connections and databases")",
            ])
        _exit(1)
    }
}

extension ServiceGroupConfiguration {
    /// The same configuration, with a limit on how long the shutdown may take.
    func limitingShutdown(by limit: ShutdownLimit) -> ServiceGroupConfiguration {
        limit.watchSignals()
        var group = self
        group.services = services.enumerated().map { position, configuration in
            var configuration = configuration
            configuration.service = TrackedService(service: configuration.service, position: position, limit: limit)
            return configuration
        }
        return group
    }
}

/// Reports to the limit when a service starts and stops.
private struct TrackedService: Service {
    let service: any Service
    let position: Int
    let limit: ShutdownLimit

    func run() async throws {
        limit.didStart(position, service)
        defer { limit.didStop(position) }
        try await service.run()
    }
}
