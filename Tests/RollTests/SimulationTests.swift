import Foundation
import MerchantCore
import SQLiteStore
import MerchantTestSupport
import Testing
import Vocabulary

/// Five years of rolls: nobody who did its part loses a payment, and nobody is left unwarned.
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

    @Test func `five years without a lost payment, an unseen end, or a promotion by junk`() async throws {
        let simulation = try Simulation(merchants: Self.merchants, seed: Self.seed, policy: Self.policy)
        try await simulation.run(days: 5 * 365)
        try await simulation.judgeWarnings()
        try simulation.judgeDiligent()
        #expect(simulation.failures == [])
        let counts = simulation.counts
        print(
            "simulation of \(Self.merchants) merchants, seed \(Self.seed): \(counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))"
        )
        print("digest \(try await simulation.digest())")
        // Otherwise nothing was shown.
        for (what, least) in [
            ("rolls finished", 1), ("rolls started", 1), ("thresholds", 3), ("tokens", 100), ("junk", 10),
        ] {
            #expect(counts[what, default: 0] >= least * Self.merchants / 2, "\(what)")
        }
        #expect(counts["no certificate at Apple", default: 0] > 0, "somebody never did its part")
        #expect(counts["rolls left waiting", default: 0] > 0, "somebody never did its part")
        #expect(counts["rolls taken back", default: 0] > 0)
    }

    @Test func `the same seed gives the same run, another seed another`() async throws {
        var digests: [String] = []
        for seed in [7, 7, 8] as [UInt64] {
            let simulation = try Simulation(merchants: 12, seed: seed, policy: Self.policy)
            try await simulation.run(days: 800)
            digests.append(try await simulation.digest())
        }
        #expect(digests[0] == digests[1] && digests[1] != digests[2])
    }

    @Test func `with the quiet period ignored the simulation fails`() async throws {
        var policy = Self.policy
        policy.quietPeriod = .zero
        let simulation = try Simulation(merchants: 60, seed: Self.seed, policy: policy)
        try await simulation.run(days: 1100)
        #expect(simulation.failures.contains { $0.contains("can't be decrypted") })
    }
}
