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
        /// By their places in the group.
        var running: [Int: String] = [:]
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

    fileprivate func begins(_ place: Int, _ name: String) { state.withLock { $0.running[place] = name } }

    /// A service ends only where the daemon does, whether asked to or by a failure.
    fileprivate func ends(_ place: Int) {
        state.withLock { $0.running[place] = nil }
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
        // They are ended last to first: those before the last that runs were not asked to yet.
        let hanging = state.withLock { $0.running.max { $0.key < $1.key }?.value }
        logger.critical(
            "merchantkeyd did not end in time and is ended now",
            metadata: [
                "seconds": "\(Self.length.components.seconds)",
                "waitedFor": "\(hanging ?? "the closing of connections and databases")",
            ])
        _exit(1)
    }
}

extension ServiceGroupConfiguration {
    /// The same group, whose end `limit` bounds.
    func bounded(by limit: ShutdownLimit) -> ServiceGroupConfiguration {
        limit.watchSignals()
        var group = self
        group.services = services.enumerated().map { place, configuration in
            var configuration = configuration
            configuration.service = Watched(service: configuration.service, place: place, limit: limit)
            return configuration
        }
        return group
    }
}

/// A service whose end is noted.
private struct Watched: Service {
    let service: any Service
    let place: Int
    let limit: ShutdownLimit

    func run() async throws {
        limit.begins(place, (service as? any CustomStringConvertible).map { "\($0)" } ?? "\(type(of: service))")
        defer { limit.ends(place) }
        try await service.run()
    }
}
