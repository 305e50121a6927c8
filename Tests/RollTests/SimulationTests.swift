import Foundation
import MerchantCore
import MerchantTestSupport
import SQLiteStore
import Testing
import Vocabulary

/// Five years of rolls: a merchant that acts promptly loses no payment, and every expiry raises warnings.
@Suite(.tags(.slow), .skippedInQuickRuns) struct SimulationTests {
    /// `MERCHANTS SEED`, from `scripts/simulate`.
    static let arguments = (ProcessInfo.processInfo.environment["MERCHANTKEYD_SIMULATION"] ?? "").split(separator: " ")
    static let merchants = arguments.first.flatMap { Int($0) } ?? 200
    static let seed = arguments.dropFirst().first.flatMap { UInt64($0) } ?? 1

    static var policy: RollPolicy {
        var policy = RollPolicy()
        policy.finishesWhenQuiet = true
        return policy
    }

    @Test func `in five years no token is refused, no expiry lacks a warning, and no mere request promotes a key`()
        async throws
    {
        let simulation = try Simulation(merchants: Self.merchants, seed: Self.seed, policy: Self.policy)
        try await simulation.run(days: 5 * 365)
        try await simulation.checkWarnings()
        try simulation.checkPromptMerchants()
        #expect(simulation.failures == [])
        let counts = simulation.counts
        print(
            "simulation of \(Self.merchants) merchants, seed \(Self.seed): \(counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))"
        )
        print("digest \(try await simulation.digest())")
        // Each kind of action must have happened.
        for (what, least) in [
            ("rolls finished", 1), ("rolls started", 1), ("thresholds", 3), ("tokens", 100), ("junk", 10),
        ] {
            #expect(counts[what, default: 0] >= least * Self.merchants / 2, "\(what)")
        }
        #expect(counts["no certificate at Apple", default: 0] > 0, "a merchant never acted")
        #expect(counts["rolls left waiting", default: 0] > 0, "a merchant never acted")
        #expect(counts["rolls reverted", default: 0] > 0)
    }

    @Test func `the same seed gives the same run, and another seed a different one`() async throws {
        var digests: [String] = []
        for seed in [7, 7, 8] as [UInt64] {
            let simulation = try Simulation(merchants: 12, seed: seed, policy: Self.policy)
            try await simulation.run(days: 800)
            digests.append(try await simulation.digest())
        }
        #expect(digests[0] == digests[1] && digests[1] != digests[2])
    }

    @Test func `the simulation fails without a quiet period`() async throws {
        var policy = Self.policy
        policy.quietPeriod = .zero
        let simulation = try Simulation(merchants: 60, seed: Self.seed, policy: policy)
        try await simulation.run(days: 1100)
        #expect(simulation.failures.contains { $0.contains("can't be decrypted") })
    }
}
