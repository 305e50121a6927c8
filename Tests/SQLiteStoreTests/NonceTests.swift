import Foundation
import GRDB
import MerchantCore
import MerchantTestSupport
import SQLiteStore
import Testing
import Vocabulary

/// The nonces of in-app provisioning in the claims database. NonceLedgerContract tests the rules of the port.
@Suite struct NonceTests {
    let temporary: TemporaryClaims
    var store: ClaimStore { temporary.store }

    init() throws { temporary = try TemporaryClaims() }

    private func claim(_ number: Int, after seconds: Int = 0) -> NonceClaim {
        NonceClaim(
            nonce: "\(number)", nonceSignature: "40", caller: "uid:1000",
            at: TemporaryClaims.start.adding(.seconds(seconds)))
    }

    private func rows() throws -> Int {
        try withSeparateConnection(to: temporary.path) {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM nonces") ?? -1
        }
    }

    @Test func `a nonce stays claimed after the file was closed and opened again`() async throws {
        try await store.claimNonce(claim(1))
        try store.close()
        #expect(await refusal { try await store.claimNonce(claim(2)) }?.code == .storeUnavailable)
        let again = try ClaimStore.open(path: temporary.path)
        #expect(await refusal { try await again.claimNonce(claim(1)) }?.code == .nonceAlreadyClaimed)
        try again.close()
    }

    @Test func `a claim is kept for 30 days, and each later claim then removes a few expired claims`() async throws {
        let retention = Int(ClaimRules.nonceRetention.components.seconds)
        for number in 0..<4 { try await store.claimNonce(claim(number)) }
        try await store.claimNonce(claim(4, after: retention))
        #expect(try rows() == 5)
        try await store.claimNonce(claim(5, after: retention + 1))
        #expect(try rows() == 6 - ClaimRules.maximumRemovedPerClaim)
        try await store.claimNonce(claim(6, after: retention + 1))
        #expect(try rows() == 7 - 2 * ClaimRules.maximumRemovedPerClaim)
    }

    @Test func `simultaneous claims of tokens and of nonces do not remove each other`() async throws {
        let store = store
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for number in 0..<100 {
                tasks.addTask { try await store.claimNonce(self.claim(number)) }
                tasks.addTask { _ = try await store.claim(.sample(number, after: 40 * 86_400)) }
            }
            try await tasks.waitForAll()
        }
        #expect(try rows() == 100)
        #expect(try temporary.rows() == 100)
    }

    @Test func `a file of the version without nonces gets their table`() async throws {
        _ = try await store.claim(.sample(1))
        try store.close()
        try withSeparateConnection(to: temporary.path) { db in
            try db.execute(sql: "DROP TABLE nonces; DELETE FROM migrations WHERE version = 2; PRAGMA user_version = 1")
        }
        let again = try ClaimStore.open(path: temporary.path)
        try await again.claimNonce(claim(1))
        let earlier = try await again.claim(of: TokenClaim.sample(1).transactionId)
        #expect(earlier == .sample(1))
        try again.close()
    }
}
