import DaemonKit
import Logging
import MerchantTestSupport
import ServiceLifecycle
import Synchronization
import Testing

/// The daemon sends watchdog signals only while all of its parts respond.
@Suite(.timeLimit(.minutes(1))) struct WatchdogTests {
    private let scratch: Scratch
    private let socket: NotifySocket

    init() throws {
        scratch = try Scratch()
        socket = NotifySocket(scratch.path("notify"))
    }

    /// A part of the daemon that can hang.
    private final class Part: Sendable {
        private struct State: Sendable {
            var hangs = false
            var pending: [@Sendable () -> Void] = []
        }
        private let state = Mutex(State())

        func ask(_ answered: @escaping @Sendable () -> Void) {
            let answersNow = state.withLock { state in
                if state.hangs { state.pending.append(answered) }
                return !state.hangs
            }
            if answersNow { answered() }
        }

        func hang() { state.withLock { $0.hangs = true } }

        func recover() {
            let pending = state.withLock { state in
                defer { state = State() }
                return state.pending
            }
            for answer in pending { answer() }
        }

        var questions: Int { state.withLock { $0.pending.count } }
    }

    @Test func `a check names the parts that do not answer in time, and asks a hanging part only once`() async {
        let (loops, database) = (Part(), Part())
        let check = LivenessCheck([
            LivenessCheck.Part("loops", ask: loops.ask), LivenessCheck.Part("database", ask: database.ask),
        ])
        #expect(await check.silentParts(after: .seconds(30)) == [])
        database.hang()
        #expect(await check.silentParts(after: .milliseconds(5)) == ["database"])
        #expect(await check.silentParts(after: .milliseconds(5)) == ["database"])
        #expect(database.questions == 1)
        loops.hang()
        #expect(await check.silentParts(after: .milliseconds(5)) == ["database", "loops"])
        // A part that has answered late is no longer silent.
        database.recover()
        loops.recover()
        #expect(await check.silentParts(after: .seconds(30)) == [])
    }

    @Test func `while a part hangs, systemd gets no watchdog signal, and gets it again when the part answers`()
        async throws
    {
        let part = Part()
        let log = CapturedLines()
        let watchdog = Watchdog(
            every: .milliseconds(40), check: LivenessCheck([LivenessCheck.Part("database", ask: part.ask)]),
            notifier: SystemdNotifier(address: socket.path), logger: log.logger)
        let group = ServiceGroup(services: [watchdog], logger: Logger(label: "x") { _ in SwiftLogNoOpLogHandler() })
        async let end: Void = group.run()
        #expect(await message(within: 10) == "WATCHDOG=1")
        part.hang()
        try await log.wait(for: "waitingFor=database", times: 1)
        // Drops the signals that were sent before the part hung.
        while await message(within: 0) != nil {}
        try await log.wait(for: "waitingFor=database", times: 3)
        #expect(await message(within: 0) == nil)
        part.recover()
        #expect(await message(within: 10) == "WATCHDOG=1")
        await group.triggerGracefulShutdown()
        try await end
    }

    private func message(within seconds: Int) async -> String? {
        await withCheckedContinuation { continuation in
            BlockingThread.run { [socket] in continuation.resume(returning: socket.next(within: seconds)) }
        }
    }
}
