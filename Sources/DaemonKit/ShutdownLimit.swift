import Dispatch
import Glibc
import Logging
import ServiceLifecycle
import Synchronization

/// Ends the process where its end takes too long, and says what did not come to its end.
///
/// Nothing is lost by it: what was acknowledged is on stable storage, as after a power failure.
final class ShutdownLimit: Sendable {
    /// Longer than the drains of both servers, shorter than systemd's patience of 90 seconds.
    static let length = Duration.seconds(30)

    private struct State {
        var isArmed = false
        var running: [String] = []
        var signals: [any DispatchSourceSignal] = []
    }

    private let logger: Logger
    private let state = Mutex(State())
    /// Of its own, so that it runs while every other thread hangs.
    private let queue = DispatchQueue(label: "shutdown limit")

    init(logger: Logger) { self.logger = logger }

    fileprivate func watchSignals() {
        state.withLock { state in
            for signal in [SIGTERM, SIGINT] {
                let source = DispatchSource.makeSignalSource(signal: signal, queue: queue)
                source.setEventHandler { [weak self] in self?.arm() }
                source.activate()
                state.signals.append(source)
            }
        }
    }

    fileprivate func begins(_ name: String) { state.withLock { $0.running.append(name) } }

    /// A service ends only where the daemon does, whether asked to or by a failure.
    fileprivate func ends(_ name: String) {
        state.withLock { state in
            if let index = state.running.firstIndex(of: name) { state.running.remove(at: index) }
        }
        arm()
    }

    private func arm() {
        let isFirst = state.withLock { state in
            defer { state.isArmed = true }
            return !state.isArmed
        }
        guard isFirst else { return }
        queue.asyncAfter(deadline: .now() + .seconds(Int(Self.length.components.seconds))) { self.end() }
    }

    private func end() {
        // Should writing the log hang as well, the kernel ends the process.
        signal(SIGALRM, SIG_DFL)
        alarm(2)
        let running = state.withLock { $0.running }
        logger.critical(
            "merchantkeyd did not end in time and is ended now",
            metadata: [
                "seconds": "\(Self.length.components.seconds)",
                "waitedFor":
                    "\(running.isEmpty ? "the closing of connections and databases" : running.joined(separator: ", "))",
            ])
        _exit(1)
    }
}

extension ServiceGroupConfiguration {
    /// The same group, whose end `limit` bounds.
    func bounded(by limit: ShutdownLimit) -> ServiceGroupConfiguration {
        limit.watchSignals()
        var group = self
        group.services = services.map { configuration in
            var configuration = configuration
            configuration.service = Watched(service: configuration.service, limit: limit)
            return configuration
        }
        return group
    }
}

/// A service whose end is noted.
private struct Watched: Service {
    let service: any Service
    let limit: ShutdownLimit

    func run() async throws {
        let name = "\(type(of: service))"
        limit.begins(name)
        defer { limit.ends(name) }
        try await service.run()
    }
}
