import DaemonKit
import Foundation
import Glibc
import LocalSocket
import MerchantTestSupport
import Testing

/// `config check` and a start agree about settings that a seeded generator has changed.
@Suite struct MutatedSettingsTests {
    /// Change it to test other mutations.
    private static let seed: UInt64 = 20_261_123
    private static let count = 300
    /// How many mutations are tested with the real programs.
    private static let programCount = TestRun.isQuick ? 30 : count

    private let fixture: SettingsFixture

    init() throws { fixture = try SettingsFixture() }

    /// The problems for which a start or a check refuses the settings; empty if it accepts them.
    private func problems(
        _ mutation: SettingsMutation, _ file: String, for purpose: PreparedStart.Purpose
    ) -> [String] {
        do {
            _ = try PreparedStart(
                file: file, stateDirectory: nil, environment: mutation.environment, for: purpose)
            return []
        } catch { return (error as? SettingsError)?.problems ?? ["\(error)"] }
    }

    @Test func `config check and a start accept and refuse the same settings`() throws {
        var mutations = SettingsMutations(fixture, seed: Self.seed)
        var verdicts: [SettingsMutation.Verdict: Int] = [:]
        for number in 0..<Self.count {
            let mutation = mutations.next(number)
            let file = try fixture.write(mutation.settings, "c\(number).yaml")
            let (start, check) = (
                problems(mutation, file, for: .start), problems(mutation, file, for: .check(runsCommands: false))
            )
            #expect(
                start.isEmpty == (mutation.verdict == .accepted), "seed \(Self.seed), \(number), \(mutation): \(start)")
            #expect(start.isEmpty == check.isEmpty, "seed \(Self.seed), \(number), \(mutation): \(check)")
            verdicts[mutation.verdict, default: 0] += 1
        }
        // Without enough settings of each verdict, the test would prove little.
        #expect(verdicts[.accepted, default: 0] > 30 && verdicts[.refused, default: 0] > 150, "\(verdicts)")
    }

    @Test func `every combination is accepted or refused by config check and a start alike`() throws {
        for (index, mutation) in SettingsMutations(fixture, seed: Self.seed).combinations(0).enumerated() {
            let file = try fixture.write(mutation.settings, "combination\(index).yaml")
            let (start, check) = (
                problems(mutation, file, for: .start), problems(mutation, file, for: .check(runsCommands: true))
            )
            #expect(start.isEmpty == (mutation.verdict == .accepted), "\(mutation): \(start)")
            #expect(start.isEmpty == check.isEmpty, "\(mutation): \(check)")
        }
    }

    @Test(.tags(.slow)) func `config-check and the start of a real daemon accept the same settings`() throws {
        var mutations = SettingsMutations(fixture, seed: Self.seed)
        for number in 0..<Self.programCount {
            let mutation = mutations.next(number)
            let file = try fixture.write(mutation.settings, "p\(number).yaml")
            let environment = ChildProcess.inheritedEnvironment.merging(mutation.environment) { $1 }
            let program = "\(SettingsFixture.programs)/merchantkeyd"
            let check = try ChildProcess.run([program, "config-check", "--config", file], environment: environment)
            // 0: accepted, 4: accepted with a warning, 1: refused.
            #expect([0, 1, 4].contains(check.status), "\(mutation): \(check.status), \(check.error)")
            let isStarted = try start([program, "--config", file], environment, number)
            #expect((check.status != 1) == isStarted, "seed \(Self.seed), \(number), \(mutation): \(check.error)")
            #expect(isStarted == (mutation.verdict == .accepted), "seed \(Self.seed), \(number), \(mutation)")
        }
    }

    @Test(.tags(.slow)) func `a reload accepts and refuses the same settings as config check`() throws {
        var mutations = SettingsMutations(fixture, seed: Self.seed)
        let valid = fixture.validSettings(0)
        let file = try fixture.write(valid, "reload.yaml")
        let daemon = try ChildProcess(["\(SettingsFixture.programs)/merchantkeyd", "--config", file])
        defer { daemon.killAndWait() }
        let end = ContinuousClock.now + .seconds(30)
        while !UnixListener.isListenedOn(fixture.adminSocket(0)), ContinuousClock.now < end { usleep(5_000) }
        var refusals = 0
        for number in 0..<Self.programCount {
            let mutation = mutations.next(0)
            // The environment variables of a running daemon do not change.
            guard mutation.environment.isEmpty else { continue }
            _ = try fixture.write(mutation.settings, "reload.yaml")
            let check = try ChildProcess.run([
                "\(SettingsFixture.programs)/merchantkeyd", "config-check", "--config", file,
            ])
            // With --dry-run, so that no mutation removes the permit to reload.
            let reload = try ChildProcess.run([
                "\(SettingsFixture.programs)/merchantkeyctl", "--socket", fixture.adminSocket(0), "reload", "--dry-run",
            ])
            #expect([0, 1].contains(reload.status), "\(mutation): \(reload.status), \(reload.error)")
            #expect(
                (check.status == 1) == (reload.status == 1),
                "seed \(Self.seed), \(number), \(mutation): \(check.error) \(reload.error)")
            if reload.status == 1 { refusals += 1 }
        }
        #expect(refusals > 10 && refusals < Self.programCount)
    }

    /// Starts the daemon, and stops it when it listens on both sockets.
    ///
    /// - Returns: false if the daemon exits by itself before that.
    private func start(_ command: [String], _ environment: [String: String], _ number: Int) throws -> Bool {
        let daemon = try ChildProcess(command, environment: environment)
        defer { daemon.killAndWait() }
        let sockets = [fixture.adminSocket(number), fixture.decryptorSocket(number)]
        let end = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < end, daemon.isRunning {
            if sockets.allSatisfy(UnixListener.isListenedOn) {
                daemon.signal(SIGTERM)
                #expect(daemon.wait() == .exited(0))
                return true
            }
            usleep(5_000)
        }
        #expect(!daemon.isRunning && daemon.wait() == .exited(1))
        return false
    }
}
