import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

/// Rolls and revocations while another daemon on the same database does not report its uses of keys.
@Suite struct SilentNodeTests {
    private static let day = Duration.seconds(86_400)

    private let merchant = RealStore.merchant(1)
    private let nodes = ListedNodes()
    private let real: RealStore
    private let other: NodeName

    init() throws {
        real = try RealStore(nodes: nodes)
        other = try #require(NodeName("other"))
    }

    private func quietRoll() async throws -> (old: PublicKeyHash, roll: Int) {
        let old = try await real.onboard(merchant)
        real.clock.advance(by: Self.day)
        let roll = try await real.startRoll(merchant).roll
        try await real.certify(roll.to, of: merchant)
        try await real.decryptToken(for: roll.to)
        real.clock.advance(by: Self.day * 8)
        return (old, roll.number)
    }

    private func finish(_ roll: Int) async -> MerchantError.Code? {
        await refusal {
            _ = try await real.operations.rolls.finishRoll(
                roll, evenIfNotQuiet: false, reason: nil, dryRun: false, for: RealStore.request)
        }
    }

    @Test func `a roll is not finished while a daemon may have used the old key without reporting it`() async throws {
        let (old, roll) = try await quietRoll()
        nodes.set(other, leaseRemaining: .seconds(-60), cacheRemaining: .seconds(-60))
        #expect(await finish(roll) == .rollNotQuiet)
        nodes.set(other, leaseRemaining: .seconds(-60), cacheRemaining: .seconds(240))
        #expect(await finish(roll) == .rollNotQuiet)
        #expect(try real.state(old) == .retiring)
        // The node is connected again, and has reported its uses.
        nodes.set(other, leaseRemaining: .seconds(9), cacheRemaining: .seconds(9))
        #expect(await finish(roll) == nil)
        #expect(try real.state(old) == .revoked)
    }

    @Test func `a roll is not finished while a daemon that runs cannot store its uses`() async throws {
        let (old, roll) = try await quietRoll()
        nodes.set(other, leaseRemaining: .seconds(9), cacheRemaining: .seconds(9), timeSinceUsesStored: .seconds(16))
        #expect(await finish(roll) == .rollNotQuiet)
        #expect(try real.state(old) == .retiring)
        nodes.set(other, leaseRemaining: .seconds(9), cacheRemaining: .seconds(9), timeSinceUsesStored: .seconds(4))
        #expect(await finish(roll) == nil)
        #expect(try real.state(old) == .revoked)
    }

    @Test func `a daemon that has been gone for the quiet period, or was removed, does not delay a roll`() async throws
    {
        let (_, roll) = try await quietRoll()
        nodes.set(other, leaseRemaining: Self.day * -8, cacheRemaining: Self.day * -8)
        #expect(await finish(roll) == nil)
        nodes.set(other, leaseRemaining: .seconds(-60), cacheRemaining: .seconds(-60))
        _ = try await real.operations.nodes.remove(other, dryRun: false, for: RealStore.request)
        #expect(await finish(roll) == nil)
    }

    @Test func `a revocation names the daemons that may still use the key, and a dry run does not`() async throws {
        _ = try await real.onboard(merchant)
        let hash = try await real.operations.keys.generateKeyPair(
            for: merchant, algorithm: nil, purpose: .paymentProcessing, for: RealStore.request
        ).keyPair.publicKeyHash
        nodes.set(other, leaseRemaining: .seconds(-60), cacheRemaining: .seconds(240))
        for dryRun in [true, false] {
            let result = try await real.operations.transitions.revoke(
                hash, reason: "spare", dryRun: dryRun, for: RealStore.request)
            #expect(result.staleNodes == (dryRun ? [] : [other]))
            #expect(result.warnings.contains { $0.contains("other") } == !dryRun)
        }
    }

    @Test func `a node is removed only if its lease has ended`() async throws {
        nodes.set(other, leaseRemaining: .seconds(9), cacheRemaining: .seconds(9))
        for dryRun in [true, false] {
            let code = await refusal {
                _ = try await real.operations.nodes.remove(other, dryRun: dryRun, for: RealStore.request)
            }
            #expect(code == .nodeInUse)
        }
        nodes.set(other, leaseRemaining: .seconds(-9), cacheRemaining: .seconds(-9))
        _ = try await real.operations.nodes.remove(other, dryRun: true, for: RealStore.request)
        #expect(nodes.nodes().count == 1)
        _ = try await real.operations.nodes.remove(other, dryRun: false, for: RealStore.request)
        let code = await refusal {
            _ = try await real.operations.nodes.remove(other, dryRun: false, for: RealStore.request)
        }
        #expect(code == .notFound)
    }
}
