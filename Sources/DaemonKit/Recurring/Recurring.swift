package import MerchantCore
import MerchantOperations
import ServiceLifecycle

/// Work that the daemon repeats while it serves.
package protocol RecurringTask: Sendable {
    /// Does one round of the work, and reports a failure itself, because an error would stop the daemon.
    ///
    /// - Throws: only `CancellationError`, if the daemon shuts down during the round.
    mutating func run() async throws

    /// How long to wait before the next round; nil for the interval of ``Recurring``. Read after each round.
    var nextPause: Duration? { get }

    /// Does the last work before the daemon exits. Called after the servers have finished their requests.
    mutating func finish() async
}

extension RecurringTask {
    package var nextPause: Duration? { nil }
    package mutating func finish() async {}
}

/// Repeats one task until the daemon shuts down. The shutdown cancels the pause or the round in progress.
package struct Recurring<Work: RecurringTask>: Service, CustomStringConvertible {
    package enum Start { case immediately, afterOneInterval }

    /// How often the lease is checked while this daemon does not have it.
    private static var leaseInterval: Duration { .milliseconds(500) }

    private let interval: Duration
    private let start: Start
    private let mayBlock: Bool
    private let changes: ChangeSignal?
    private let lease: Lease
    private let work: Work

    /// - Parameters:
    ///   - mayBlock: whether a round may wait for disks, network files or other programs. Such a task runs on separate
    ///     threads, so that it does not delay payments.
    ///   - lease: no round begins without this lease.
    ///   - changes: a signal, such as a change of the settings that the task reads, that starts the next round at once.
    package init(
        every interval: Duration, start: Start = .immediately, mayBlock: Bool = false, with lease: Lease = .unlimited,
        wokenBy changes: ChangeSignal? = nil, _ work: Work
    ) {
        self.interval = interval
        self.start = start
        self.mayBlock = mayBlock
        self.changes = changes
        self.lease = lease
        self.work = work
    }

    package func run() async throws {
        if mayBlock { await WorkThreads.blocking.run { await repeatWork() } } else { await repeatWork() }
    }

    private func repeatWork() async {
        var workAfterLastRound = await cancelWhenGracefulShutdown { await rounds() }
        await workAfterLastRound.finish()
    }

    /// - Returns: the task as the last round left it.
    private func rounds() async -> Work {
        var work = work
        do {
            if start == .afterOneInterval { try await Task.sleep(for: interval) }
            while !Task.isCancelled {
                while !lease.isValid { try await Task.sleep(for: Self.leaseInterval) }
                // Read before the round, so that a change during the round is not missed.
                let generation = changes?.generation ?? 0
                try await work.run()
                let pause = work.nextPause ?? interval
                if let changes {
                    await changes.wait(after: generation, until: ContinuousClock.now + pause)
                } else {
                    try await Task.sleep(for: pause)
                }
            }
        } catch {
            // The only error is a cancellation: the daemon shuts down.
        }
        return work
    }

    package var description: String { "\(Work.self)" }
}
