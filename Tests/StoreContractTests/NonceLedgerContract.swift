import Foundation
import MerchantCore
import MerchantTestSupport
import PostgresStore
import SQLiteStore
import Testing
import Vocabulary

/// The ledgers that the contract of ``NonceLedger`` runs on.
enum NonceLedgerUnderTest: String, CaseIterable, Sendable {
    case memory, sqlite, postgresql

    /// Runs `body` with an empty ledger.
    func run(_ body: (any NonceLedger) async throws -> Void) async throws {
        switch self {
        case .memory: try await body(MemoryNonceLedger())
        case .sqlite:
            let scratch = try Scratch()
            let store = try ClaimStore.open(path: scratch.path("claims.sqlite"))
            defer { try? store.close() }
            try await body(store)
        case .postgresql:
            let database = try PostgresUnderTest.create()
            defer { database.remove() }
            let claims = try PostgresClaims(try database.open(), clock: SystemClock())
            defer { claims.close() }
            try await body(claims)
        }
    }
}

/// The contract of ``NonceLedger``.
@Suite struct NonceLedgerContract {
    private static let start = Timestamp(millisecondsSince1970: 1_790_000_000_000)

    private static func claim(
        _ nonce: String, signature: String = "40aa", caller: String = "uid:1000", after seconds: Int = 0
    ) -> NonceClaim {
        NonceClaim(nonce: nonce, nonceSignature: signature, caller: caller, at: start.adding(.seconds(seconds)))
    }

    private static func refusal(_ claim: NonceClaim, by ledger: any NonceLedger) async throws -> MerchantError.Code? {
        do {
            try await ledger.claimNonce(claim)
            return nil
        } catch let error as MerchantError { return error.code }
    }

    @Test(arguments: NonceLedgerUnderTest.allCases)
    func `a claimed nonce is refused, also for another caller and a day later`(
        ledger: NonceLedgerUnderTest
    ) async throws {
        try await ledger.run { ledger in
            try await ledger.claimNonce(Self.claim("9c023092"))
            for again in [
                Self.claim("9c023092"), Self.claim("9c023092", caller: "uid:1001"),
                Self.claim("9c023092", after: 86_400),
            ] {
                let code = try await Self.refusal(again, by: ledger)
                #expect(code == .nonceAlreadyClaimed)
            }
        }
    }

    @Test(arguments: NonceLedgerUnderTest.allCases)
    func `the same nonce with the signature of another device is another nonce`(
        ledger: NonceLedgerUnderTest
    ) async throws {
        try await ledger.run { ledger in
            let claims = [
                Self.claim("9c023092"), Self.claim("9c023093"), Self.claim("9c023092", signature: "40ab"),
                Self.claim("9c02", signature: "309240aa"),
            ]
            #expect(Set(claims.map(\.digest)).count == claims.count)
            for claim in claims { try await ledger.claimNonce(claim) }
        }
    }

    @Test(arguments: NonceLedgerUnderTest.allCases)
    func `exactly one of many simultaneous claims of a nonce succeeds`(ledger: NonceLedgerUnderTest) async throws {
        try await ledger.run { ledger in
            let codes = try await withThrowingTaskGroup(of: MerchantError.Code?.self) { tasks in
                for number in 0..<200 {
                    tasks.addTask { try await Self.refusal(Self.claim("0000000\(number % 5)"), by: ledger) }
                }
                return try await tasks.reduce(into: [MerchantError.Code?]()) { $0.append($1) }
            }
            #expect(codes.filter { $0 == nil }.count == 5)
            #expect(codes.filter { $0 == .nonceAlreadyClaimed }.count == 195)
        }
    }

    @Test(arguments: NonceLedgerUnderTest.allCases)
    func `a claim is found with its caller and time`(ledger: NonceLedgerUnderTest) async throws {
        try await ledger.run { ledger in
            let claim = Self.claim("9c023092", caller: "uid:7", after: 5)
            let before = try await ledger.nonceClaim(claim.digest)
            #expect(before == nil)
            try await ledger.claimNonce(claim)
            let found = try await ledger.nonceClaim(claim.digest)
            #expect(found == claim)
        }
    }
}
