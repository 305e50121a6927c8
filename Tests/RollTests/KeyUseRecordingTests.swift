import MerchantCore
import MerchantOperations
import MerchantTestSupport
import SQLiteStore
import Testing
import Vocabulary

@Suite struct KeyUseRecordingTests {
    /// More key pairs than `KeyUseRecording` changes in one transaction.
    static let count = 40

    @Test(arguments: [KeyState.current, .revoked])
    func `a use that the store refuses is dropped, and all other uses are stored`(state: KeyState) async throws {
        let real = try RealStore()
        var hashes: [PublicKeyHash] = []
        for number in 0..<Self.count {
            let hash = try await real.onboard(RealStore.merchant(number))
            if state == .revoked {
                _ = try await real.operations.transitions.revoke(
                    hash, reason: RevocationRules.compromised, dryRun: false, for: RealStore.request)
            }
            hashes.append(hash)
        }
        #expect(try hashes.allSatisfy { try real.state($0) == state })
        real.clock.advance(by: .seconds(1))
        let refused = hashes[7]
        let operations = Operations(
            repository: RefusingRepository(real.store, refused: refused), custodian: NamedKeysCustodian(),
            claims: MemoryClaimLedger(), clock: real.clock, environment: .sandbox)
        func requestAll() {
            for hash in hashes { operations.observedUses.counter(for: hash).record(at: real.clock.now) }
        }
        func counts() async throws -> [Int?] {
            try await real.store.read { [hashes] reading in
                try hashes.map { try reading.keyUse(of: $0)?.requests?.count }
            }
        }
        func store() async throws -> Int { try await operations.keyUses.storeUses(as: RealStore.caller) }

        requestAll()
        #expect(await refusal { _ = try await store() } == .internalError)
        #expect(try await counts() == hashes.map { $0 == refused ? nil : 1 })
        #expect(try await store() == 0, "no use is stored twice, and the refused use is not tried again")
        #expect(try await counts() == hashes.map { $0 == refused ? nil : 1 })
        requestAll()
        #expect(await refusal { _ = try await store() } == .internalError)
        #expect(try await counts() == hashes.map { $0 == refused ? nil : 2 })
    }
}
