package import MerchantCore
package import ServiceLifecycle

/// Runs a service only while this daemon is the leader. Starts the service again when the daemon becomes the leader
/// again.
package struct LeaderOnly<Work: Service>: Service, CustomStringConvertible {
    /// How often the lease is checked.
    private static var interval: Duration { .milliseconds(500) }

    private let lease: Lease
    private let work: Work

    package init(_ lease: Lease, _ work: Work) { (self.lease, self.work) = (lease, work) }

    package func run() async throws {
        guard !lease.isUnlimited else { return try await work.run() }
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            guard lease.isValid else {
                try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.interval) }
                continue
            }
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await work.run() }
                tasks.addTask { while lease.isValid { try await Task.sleep(for: Self.interval) } }
                // The work returns at a shutdown. It is cancelled if the lease ends first.
                defer { tasks.cancelAll() }
                try await tasks.next()
            }
            // The work or the lease has ended. The pause prevents a busy loop if the work ends at once each time.
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.interval) }
        }
    }

    package var description: String { "\(Work.self)" }
}
