import MerchantCore
import MerchantOperations
import MerchantTestSupport
import SQLiteStore
import Testing
import Vocabulary

/// The machine's clock is set forward or back, or the daemon cannot count the time for which the machine was off. Work
/// that cannot be undone waits until the time is confirmed.
@Suite struct ClockJumpTests {
    static let minute = Duration.seconds(60)
    static let hour = Duration.seconds(3_600)
    static let day = Duration.seconds(86_400)

    struct Jump: CustomTestStringConvertible, Sendable {
        let size: Duration
        let isForward: Bool
        let isAtStart: Bool

        var step: Duration { isForward ? size : .zero - size }
        var testDescription: String {
            "\(size.components.seconds) s \(isForward ? "forward" : "back") \(isAtStart ? "at start" : "while running")"
        }
    }

    static let jumps = [minute, hour, day * 30, day * 365].flatMap { size in
        [true, false].flatMap { isForward in
            [true, false].map { Jump(size: size, isForward: isForward, isAtStart: $0) }
        }
    }

    /// An action that happens once and cannot be undone.
    struct Work {
        let name: String
        /// When the action is due in true time.
        let due: Timestamp
        let isDone: (SimulatedDaemon) async throws -> Bool
    }

    @Test(arguments: jumps)
    func `work that cannot be undone is done when it is due in true time, not before and not long after`(
        _ jump: Jump
    ) async throws {
        // The work scheduled here is due half a jump after the jump; only the roll of the used key is due later.
        let lead = jump.size + Self.day
        let wait = lead + jump.size / 2
        let daemon = try SimulatedDaemon(quietPeriod: wait, eventAge: wait)
        let clock = daemon.clock
        let merchants = (0...3).map(RealStore.merchant)
        _ = try await daemon.onboard(merchants[0])
        let destroyed = try await daemon.scheduleDestruction(of: merchants[0], after: wait)
        let quiet = try await daemon.startRollWaitingForQuiet(merchants[1])
        let used = try await daemon.startRollWaitingForQuiet(merchants[2])
        let start = clock.now
        let due = start.adding(wait)
        let event = try #require(try await daemon.operations.events.events(EventQuery(.newest, limit: 1)).first)
            .sequence
        var work = [
            Work(name: "destruction", due: due) { try $0.state(destroyed) == .destroyed },
            Work(name: "roll", due: due) { try $0.state(quiet) == .revoked },
            Work(name: "event", due: due) { try await !$0.hasEvent(event) },
            // The old key is requested until an hour after the jump.
            Work(name: "roll of a used key", due: start.adding(lead + Self.hour + wait)) {
                try $0.state(used) == .revoked
            },
        ]

        clock.advance(by: lead - jump.size)
        // If the jump is days long, the claim of this payment is removed before the jump. A clock that is set back
        // makes the token valid again.
        let old = clock.now
        #expect(try await daemon.present(0, signedAt: old))
        clock.advance(by: jump.size - Self.minute * 10)
        for payment in 1...9 { #expect(try await daemon.present(payment, signedAt: clock.now)) }
        let young = clock.now
        try await daemon.remember("an hour old")
        try await daemon.tick()
        clock.advance(by: Self.minute * 10)

        // The clock is wrong for two hours.
        let wrongSince = start.adding(lead)
        // The daemon cannot count the time for which the machine was off.
        let uncounted = jump.isAtStart ? Self.minute : .zero
        if jump.isAtStart {
            try await daemon.restart(offFor: uncounted, step: jump.step)
        } else {
            clock.step(by: jump.step)
        }
        var early: Set<String> = []
        func trueTime(isWrong: Bool) -> Timestamp { isWrong ? clock.now.adding(.zero - jump.step) : clock.now }
        func requireNothingEarly(isWrong: Bool) async throws {
            let now = trueTime(isWrong: isWrong)
            for work in work where now.adding(uncounted) < work.due && !early.contains(work.name) {
                guard try await work.isDone(daemon) else { continue }
                early.insert(work.name)
                Issue.record("\(work.name) at \(now), due \(work.due)")
            }
        }
        var replays = 0
        while trueTime(isWrong: true) < wrongSince.adding(Self.hour * 2) {
            try await daemon.tick()
            try await requireNothingEarly(isWrong: true)
            for (payment, signedAt) in [(0, old)] + (1...9).map({ ($0, young) }) {
                if try await daemon.present(payment, signedAt: signedAt) { replays += 1 }
            }
            _ = try await daemon.present(100_000 + replays, signedAt: trueTime(isWrong: true))
            if trueTime(isWrong: true) < wrongSince.adding(Self.hour) {
                daemon.operations.observedUses.recordRequest(used, at: clock.now)
            }
            #expect(try await daemon.isRemembered("an hour old"))
            clock.advance(by: Self.minute * 5)
        }
        // Work that is scheduled while the clock is wrong waits for its whole waiting time.
        let late = try await daemon.scheduleDestruction(of: merchants[0], after: Self.day)
        work.append(
            Work(name: "later destruction", due: trueTime(isWrong: true).adding(Self.day)) {
                try $0.state(late) == .destroyed
            })
        let lateEvent = try #require(try await daemon.operations.events.events(EventQuery(.newest, limit: 1)).first)
            .sequence
        work.append(
            Work(name: "later event", due: trueTime(isWrong: true).adding(wait)) {
                try await !$0.hasEvent(lateEvent)
            })

        // The clock is correct again.
        clock.step(by: .zero - jump.step)
        for (payment, signedAt) in [(0, old)] + (1...9).map({ ($0, young) }) {
            if try await daemon.present(payment, signedAt: signedAt) { replays += 1 }
        }
        #expect(replays == 0)
        #expect(try await daemon.isRemembered("an hour old"))
        let end = start.adding(lead + Self.hour * 4 + wait)
        let pause = max(Self.minute * 10, (jump.size + Self.day) / 100)
        while clock.now < end {
            try await daemon.tick()
            try await requireNothingEarly(isWrong: false)
            clock.advance(by: pause)
        }
        try await daemon.tick()
        for work in work.prefix(4) { #expect(try await work.isDone(daemon), "\(work.name), due \(work.due)") }
    }

    @Test func `a clock that stays ahead is accepted after a day, and the work due by it is done`() async throws {
        let daemon = try SimulatedDaemon(quietPeriod: Self.day * 20, eventAge: Self.day * 20)
        _ = try await daemon.onboard(RealStore.merchant(0))
        let destroyed = try await daemon.scheduleDestruction(of: RealStore.merchant(0), after: Self.day * 20)
        let quiet = try await daemon.startRollWaitingForQuiet(RealStore.merchant(1))
        try await daemon.tick()
        #expect(try await daemon.operations.clock.clockFinding() == nil)
        daemon.clock.step(by: Self.day * 31)
        for _ in 0..<24 {
            try await daemon.tick()
            let finding = try #require(try await daemon.operations.clock.clockFinding())
            #expect(finding.code == .clockUnconfirmed && finding.severity == .warning)
            #expect(try daemon.state(destroyed) == .revoked && daemon.state(quiet) == .retiring)
            daemon.clock.advance(by: Self.hour)
        }
        try await daemon.tick()
        #expect(try await daemon.operations.clock.clockFinding() == nil)
        #expect(try daemon.state(destroyed) == .destroyed && daemon.state(quiet) == .revoked)
        #expect(daemon.confirmedTime.acceptances == 1)
    }

    @Test func `setting the clock again restarts the day of waiting, and so does a restart of the daemon`() async throws
    {
        let daemon = try SimulatedDaemon(quietPeriod: Self.day * 20, eventAge: Self.day * 20)
        _ = try await daemon.onboard(RealStore.merchant(0))
        let destroyed = try await daemon.scheduleDestruction(of: RealStore.merchant(0), after: Self.day * 20)
        daemon.clock.step(by: Self.day * 31)
        func wait(hours: Int) async throws {
            for _ in 0..<hours {
                try await daemon.tick()
                daemon.clock.advance(by: Self.hour)
            }
            try await daemon.tick()
        }
        try await wait(hours: 23)
        daemon.clock.step(by: Self.day)
        try await wait(hours: 23)
        try await daemon.restart(offFor: Self.minute, step: .zero)
        try await wait(hours: 23)
        #expect(try daemon.state(destroyed) == .revoked)
        try await wait(hours: 1)
        #expect(try daemon.state(destroyed) == .destroyed)
    }

    @Test
    func `days without power are a warning if work is due by the machine's clock, and otherwise a notice`()
        async throws
    {
        for isDue in [false, true] {
            let daemon = try SimulatedDaemon(quietPeriod: Self.day * 90, eventAge: Self.day * 90)
            _ = try await daemon.onboard(RealStore.merchant(0))
            _ = try await daemon.scheduleDestruction(of: RealStore.merchant(0), after: Self.day * (isDue ? 1 : 30))
            try await daemon.restart(offFor: Self.day * 2, step: .zero)
            let finding = try #require(try await daemon.operations.clock.clockFinding())
            #expect(finding.code == .clockUnconfirmed)
            #expect(finding.severity == (isDue ? .warning : .notice))
        }
    }

    @Test func `a daemon that was stopped for a day on a running machine counts that day`() async throws {
        let daemon = try SimulatedDaemon(quietPeriod: Self.day * 90, eventAge: Self.day * 90)
        _ = try await daemon.onboard(RealStore.merchant(0))
        let destroyed = try await daemon.scheduleDestruction(of: RealStore.merchant(0), after: Self.day)
        let mark = daemon.confirmedTime.savedTime
        daemon.clock.advance(by: Self.day + Self.minute)
        let next = ConfirmedTime(clock: daemon.clock, last: ConfirmedTime.SavedTime(text: mark.text))
        #expect(next.reading() == ClockReading(daemon.clock.now))
        try await daemon.tick()
        #expect(try daemon.state(destroyed) == .destroyed)
    }

    @Test func `immediate actions of an admin do not wait for a confirmed clock`() async throws {
        let daemon = try SimulatedDaemon(quietPeriod: Self.day, eventAge: Self.day)
        _ = try await daemon.onboard(RealStore.merchant(0))
        let old = try await daemon.startRollWaitingForQuiet(RealStore.merchant(1))
        daemon.clock.step(by: Self.day * 31)
        let roll = try #require(
            try await daemon.operations.rolls.rolls(of: RealStore.merchant(1), state: .open, before: nil, limit: 1)
                .first
        )
        #expect(roll.progress.state == .promoted)
        #expect(
            await refusal {
                _ = try await daemon.operations.rolls.finishRoll(
                    roll.roll.number, evenIfNotQuiet: false, reason: nil, dryRun: false, for: SimulatedDaemon.request)
            } == .rollNotQuiet)
        _ = try await daemon.operations.rolls.finishRoll(
            roll.roll.number, evenIfNotQuiet: true, reason: "leaked", dryRun: false, for: SimulatedDaemon.request)
        #expect(try daemon.state(old) == .revoked)
        let destroyed = try await daemon.scheduleDestruction(of: RealStore.merchant(0), after: .zero)
        #expect(try daemon.state(destroyed) == .destroyed)
    }
}
