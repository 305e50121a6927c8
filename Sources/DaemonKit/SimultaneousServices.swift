package import ServiceLifecycle
import Synchronization

/// Services that stop at the same time, so that a shutdown waits only for the slowest of them. A `ServiceGroup` stops
/// its services one after another.
///
/// If one of the services fails, or returns before the daemon shuts down, the others are cancelled.
package final class SimultaneousServices: Service, CustomStringConvertible {
    private let services: [any Service]
    /// The positions of the services that have stopped.
    private let ended = Mutex<Set<Int>>([])

    package init(_ services: [any Service]) { self.services = services }

    /// The names of the services that have not stopped. The log shows them if a shutdown takes too long.
    package var description: String {
        let ended = ended.withLock { $0 }
        return services.enumerated().filter { !ended.contains($0.offset) }
            .map { NamedService.name(of: $0.element) }.joined(separator: ",")
    }

    package func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for (position, service) in services.enumerated() {
                tasks.addTask {
                    defer { self.ended.withLock { _ = $0.insert(position) } }
                    try await service.run()
                }
            }
            while try await tasks.next() != nil {
                if !Task.isShuttingDownGracefully { tasks.cancelAll() }
            }
        }
    }
}
