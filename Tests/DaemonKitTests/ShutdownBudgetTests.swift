import DaemonKit
import Foundation
import HTTPKit
import Logging
import ServiceLifecycle
import Testing

/// The time that a shutdown takes.
@Suite(.timeLimit(.minutes(1))) struct ShutdownBudgetTests {
    @Test func `all steps of a shutdown together take no longer than the daemon permits`() {
        let sum = ShutdownBudget.Step.allCases.reduce(Duration.zero) { $0 + $1.time }
        #expect(sum <= ShutdownBudget.limit)
        #expect(ShutdownBudget.Step.storing.time >= Duration.seconds(5))
    }

    @Test func `systemd and the example for Kubernetes wait longer than the daemon's own limit`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        for (file, setting) in [
            ("etc/merchantkeyd.service", "TimeoutStopSec="), ("docs/containers.md", "terminationGracePeriodSeconds: "),
        ] {
            let text = try String(contentsOf: root.appending(path: file), encoding: .utf8)
            let value = try #require(text.components(separatedBy: setting).dropFirst().first, "\(file)")
            let seconds = try #require(Int(value.prefix { $0.isNumber }), "\(file)")
            #expect(Duration.seconds(seconds) >= ShutdownBudget.limit + .seconds(5), "\(file)")
        }
    }

    // MARK: Services that stop at the same time

    /// Lets callers wait until a number of them have arrived.
    private actor MeetingPoint {
        private let count: Int
        private var waiting: [CheckedContinuation<Void, Never>] = []

        init(of count: Int) { self.count = count }

        func arrive() async {
            if waiting.count + 1 == count {
                for continuation in waiting { continuation.resume() }
            } else {
                await withCheckedContinuation { waiting.append($0) }
            }
        }
    }

    /// Ends when every service has begun to stop.
    private struct StoppingService: Service {
        let started: MeetingPoint
        let stopping: MeetingPoint

        func run() async throws {
            await started.arrive()
            try? await gracefulShutdown()
            await stopping.arrive()
        }
    }

    private struct FailingService: Service {
        struct Failure: Error {}

        func run() async throws { throw Failure() }
    }

    private struct WaitingService: Service {
        func run() async throws { try? await Task.sleep(for: .seconds(3600)) }
    }

    @Test func `the services of one step stop at the same time`() async throws {
        let started = MeetingPoint(of: 4)
        let stopping = MeetingPoint(of: 3)
        let services = (0..<3).map { _ in StoppingService(started: started, stopping: stopping) }
        let group = ServiceGroup(
            services: [SimultaneousServices(services)],
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            await started.arrive()
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    @Test func `if one service of a step fails, the others end, and the step fails`() async {
        await #expect(throws: FailingService.Failure.self) {
            try await SimultaneousServices([WaitingService(), FailingService()]).run()
        }
    }

    @Test func `if one service of a step ends without a shutdown, the others end`() async throws {
        struct EndingService: Service { func run() async throws {} }
        try await SimultaneousServices([WaitingService(), EndingService()]).run()
    }
}
