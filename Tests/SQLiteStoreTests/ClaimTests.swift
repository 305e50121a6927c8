import Foundation
import GRDB
import MerchantCore
import MerchantTestSupport
import SQLiteStore
import Schema
import Testing
import Vocabulary

@Suite struct ClaimTests {
    let temporary: TemporaryClaims
    var store: ClaimStore { temporary.store }

    init() throws { temporary = try TemporaryClaims() }

    @Test func `exactly one of many simultaneous claims of a payment wins`() async throws {
        let payments = 200
        let store = store
        let (won, refused) = await withTaskGroup(of: (Int, MerchantError?).self) { tasks in
            for claimant in 0..<32 {
                for payment in 0..<payments {
                    tasks.addTask {
                        let claim = TokenClaim.sample(
                            payment, key: claimant.isMultiple(of: 2) ? claimant * 1000 + payment : nil)
                        let error = await refusal { _ = try await store.claim(claim) }
                        return (payment, error)
                    }
                }
            }
            var won = [Int](repeating: 0, count: payments)
            var refused: [MerchantError.Code: Int] = [:]
            for await (payment, error) in tasks {
                if let error { refused[error.code, default: 0] += 1 } else { won[payment] += 1 }
            }
            return (won, refused)
        }
        #expect(won.allSatisfy { $0 == 1 })
        #expect(refused == [.tokenAlreadyClaimed: payments * 31])
        #expect(try temporary.rows() == payments)
    }

    @Test func `while another program locks the file, at most one trial write waits, and later the store is ready`()
        async throws
    {
        let store = store
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: temporary.path, configuration: configuration)
        try other.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
        #expect(await refusal { _ = try await store.claim(.sample(1)) }?.code == .storeUnavailable)
        #expect(store.health != .ready)
        // Each trial waits for the lock for 5 s. A claim must not wait for many of them.
        for _ in 0..<100 { store.retryIfImpaired() }
        let begin = ContinuousClock.now
        #expect(await refusal { _ = try await store.claim(.sample(2)) }?.code == .storeUnavailable)
        #expect(ContinuousClock.now - begin < .seconds(60))
        try other.inDatabase { try $0.execute(sql: "ROLLBACK") }
        let end = ContinuousClock.now + .seconds(60)
        while store.health != .ready, ContinuousClock.now < end {
            store.retryIfImpaired()
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(store.health == .ready)
        #expect(try await store.claim(.sample(1)) == .claimed)
        #expect(try temporary.rows() == 1)
    }

    @Test func `only an identical request of the same caller with the same idempotency key is a repeat`() async throws {
        let store = store
        #expect(try await store.claim(.sample(1, key: 1, request: 1)) == .claimed)
        #expect(
            try await store.claim(.sample(1, key: 1, request: 1, after: 60))
                == .repeated(claimedAt: TemporaryClaims.start))
        func code(_ claim: TokenClaim) async -> MerchantError.Code? {
            await refusal { _ = try await store.claim(claim) }?.code
        }
        #expect(await code(.sample(1, key: 2, request: 1)) == .tokenAlreadyClaimed)
        #expect(await code(.sample(1)) == .tokenAlreadyClaimed)
        #expect(await code(.sample(1, key: 1, request: 1, uid: 1001)) == .tokenAlreadyClaimed)
        #expect(await code(.sample(1, key: 1, request: 2)) == .idempotencyKeyReused)
        #expect(await code(.sample(2, key: 1, request: 2)) == .idempotencyKeyReused)
        #expect(
            try await store.claim(.sample(2, key: 1, request: 2, uid: 1001)) == .claimed, "each caller has its own keys"
        )
        #expect(try await store.claim(.sample(3)) == .claimed)
        #expect(await code(.sample(3)) == .tokenAlreadyClaimed, "without a key, no claim is a repeat")
        #expect(try temporary.rows() == 3)
    }

    @Test func `a claim is found after the file was closed and opened again`() async throws {
        _ = try await store.claim(.sample(1, key: 7, request: 8))
        try store.close()
        #expect(store.health != .ready)
        #expect(await refusal { _ = try await store.claim(.sample(2)) }?.code == .storeUnavailable)
        let again = try ClaimStore.open(path: temporary.path)
        #expect(await refusal { _ = try await again.claim(.sample(1)) }?.code == .tokenAlreadyClaimed)
        #expect(try await again.claim(of: TokenClaim.sample(1).transactionId) == .sample(1, key: 7, request: 8))
        #expect(try await again.claim(of: TokenClaim.sample(2).transactionId) == nil)
        try again.close()
    }

    @Test func `each commit is synced, and only the owner can access the files`() async throws {
        _ = try await store.claim(.sample(1))
        let settings = try store.settings()
        #expect(settings["journal_mode"] == "wal")
        #expect(settings["synchronous"] == "2")
        #expect(settings["trusted_schema"] == "0")
        for suffix in ["", "-wal", "-shm"] { #expect(try mode(of: temporary.path + suffix) == 0o600) }
        let loose = try withSeparateConnection(to: temporary.path) {
            try String.fetchAll(
                $0,
                sql:
                    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite_%' AND strict = 0"
            )
        }
        #expect(loose == [])
    }

    @Test func `a claim is kept for an hour, and each later claim then removes a few expired claims`() async throws {
        let hour = Int(ClaimRules.retention.components.seconds)
        #expect(hour >= 2 * 300)
        for payment in 0..<10 { _ = try await store.claim(.sample(payment)) }
        _ = try await store.claim(.sample(100, after: hour))
        #expect(try temporary.rows() == 11)
        #expect(await refusal { _ = try await store.claim(.sample(9, after: hour)) }?.code == .tokenAlreadyClaimed)
        _ = try await store.claim(.sample(101, after: hour + 1))
        #expect(try temporary.rows() == 12 - ClaimRules.maximumRemovedPerClaim)
        for payment in 102..<112 { _ = try await store.claim(.sample(payment, after: hour + 1)) }
        #expect(try temporary.rows() == 12)
        #expect(try await store.claim(.sample(9, after: hour + 1)) == .claimed)
    }

    @Test
    func `while the clock is set back, a payment whose claim may have been removed is refused, also after a restart`()
        async throws
    {
        let hour = Int(ClaimRules.retention.components.seconds)
        _ = try await store.claim(.sample(1))
        for payment in 2..<4 { _ = try await store.claim(.sample(payment, after: hour + 1)) }
        #expect(try temporary.rows() == 2)
        let limit = hour + 1 - Int(ClaimRules.toleratedSetBack.components.seconds)
        #expect(await refusal { _ = try await store.claim(.sample(1, after: 60)) }?.code == .tokenNotVerified)
        #expect(await refusal { _ = try await store.claim(.sample(4, after: limit)) }?.code == .tokenNotVerified)
        #expect(try await store.claim(.sample(5, after: limit + 1)) == .claimed)
        #expect(await refusal { _ = try await store.claim(.sample(2, after: 60)) }?.code == .tokenAlreadyClaimed)
        try store.close()
        let again = try ClaimStore.open(path: temporary.path)
        #expect(await refusal { _ = try await again.claim(.sample(1, after: 60)) }?.code == .tokenNotVerified)
        try again.close()
    }

    @Test func `a clock that is behind the newest claim is reported for as long as claims are refused because of it`()
        async throws
    {
        let clock = HandMovedClock(TemporaryClaims.start)
        let directory = try makeDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let store = try ClaimStore.open(path: directory.appending(path: "claims.sqlite").path, clock: clock)
        defer { try? store.close() }
        func isRefused(_ payment: Int) async -> Bool {
            let seconds = Int(clock.now.millisecondsSince1970 - TemporaryClaims.start.millisecondsSince1970) / 1000
            return await refusal { _ = try await store.claim(.sample(payment, after: seconds)) }?.code
                == .tokenNotVerified
        }
        #expect(store.clockBehindClaims == nil)
        clock.step(by: .seconds(40 * 86_400))
        let ahead = clock.now
        #expect(await !isRefused(1))
        #expect(store.clockBehindClaims == nil)
        clock.step(by: .seconds(-40 * 86_400))
        let until = ahead.adding(.zero - ClaimRules.toleratedSetBack)
        let expected = ClockBehindClaims(
            newestClaim: ahead, since: TemporaryClaims.start, until: until, removal: ClaimStore.removal)
        #expect(store.clockBehindClaims == expected)
        #expect(await isRefused(2))
        clock.advance(by: .seconds(3600))
        #expect(store.clockBehindClaims == expected)
        clock.step(by: .milliseconds(until.millisecondsSince1970 - clock.now.millisecondsSince1970))
        #expect(await isRefused(3))
        #expect(store.clockBehindClaims == expected)
        clock.step(by: .seconds(1))
        #expect(store.clockBehindClaims == nil)
        #expect(await !isRefused(4))
    }

    @Test func `a refused claim removes no expired claims`() async throws {
        for payment in 0..<10 { _ = try await store.claim(.sample(payment)) }
        for _ in 0..<20 { _ = await refusal { _ = try await store.claim(.sample(9, after: 1_000_000)) } }
        #expect(try temporary.rows() == 10)
    }

    @Test(arguments: [false, true])
    func `after the file was removed or replaced, every claim is refused`(isReplaced: Bool) async throws {
        _ = try await store.claim(.sample(1))
        try FileManager.default.removeItem(atPath: temporary.path)
        if isReplaced { try Data().write(to: URL(filePath: temporary.path)) }
        let refused = await refusal { _ = try await store.claim(.sample(2)) }
        #expect(refused?.code == .storeUnavailable)
        #expect(refused?.detail.contains("removed or replaced") == true)
        guard case .failed = store.health else {
            Issue.record("the store still accepts claims")
            return
        }
    }

    @Test func `with a damaged file no payment is claimed twice`() async throws {
        let store = store
        try await withThrowingTaskGroup { tasks in
            for payment in 0..<2000 { tasks.addTask { _ = try await store.claim(.sample(payment)) } }
            try await tasks.waitForAll()
        }
        try store.close()
        let page = try withSeparateConnection(to: temporary.path) {
            try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'claims_once'") ?? 0
        }
        let file = try FileHandle(forUpdating: URL(filePath: temporary.path))
        try file.seek(toOffset: UInt64(page - 1) * 4096)
        try file.write(contentsOf: Data(repeating: 0xFF, count: 4096))
        try file.close()
        let again = try ClaimStore.open(path: temporary.path)
        for payment in 0..<5 {
            #expect(await refusal { _ = try await again.claim(.sample(payment)) }?.code == .storeUnavailable)
        }
        guard case .failed = again.health else {
            Issue.record("the store still accepts claims")
            return
        }
        try again.close()
    }

    @Test func `a file that is not a claims database is refused and not changed`() async throws {
        let other = try TemporaryStore()
        let ofMerchants = await refusal { _ = try ClaimStore.open(path: other.path) }
        #expect(ofMerchants?.detail.contains("another program's database") == true)
        let ofClaims = await refusal { _ = try SQLiteStore.open(path: temporary.path) }
        #expect(ofClaims?.detail.contains("another program's database") == true)
        let text = temporary.directory.appending(path: "text.txt").path
        try Data(repeating: 0x41, count: 5000).write(to: URL(filePath: text))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: text)
        #expect(
            await refusal { _ = try ClaimStore.open(path: text) }?.detail.contains("SQLite 26") == true
        )
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: text)
        #expect(await refusal { _ = try ClaimStore.open(path: text) }?.detail.contains("expected 600") == true)
    }
}

/// Claims on a small file system. Mounting it needs root.
@Suite(.enabled(if: SmallFileSystem.canBeCreated, "mounting a tmpfs needs root")) struct FullDiskClaimTests {
    @Test
    func
        `claims are refused while the disk is full, acknowledged claims are kept, and claims resume without a restart`()
        async throws
    {
        let disk = try SmallFileSystem(kilobytes: 300)
        let claims = try TemporaryClaims(in: URL(filePath: disk.path))
        let store = claims.store
        var acknowledged = 0
        var refused: MerchantError?
        while refused == nil, acknowledged < 20_000 {
            let payment = acknowledged
            refused = await refusal { _ = try await store.claim(.sample(payment)) }
            if refused == nil { acknowledged += 1 }
        }
        #expect(refused?.code == .storeUnavailable)
        #expect(refused?.detail.contains("full") == true)
        guard case .impaired = store.health else {
            Issue.record("a full disk is not reported: \(store.health)")
            return
        }
        try disk.resize(kilobytes: 4000)
        let next = acknowledged
        #expect(try await store.claim(.sample(next)) == .claimed)
        #expect(store.health == .ready)
        for payment in stride(from: 0, through: acknowledged, by: 7) {
            #expect(await refusal { _ = try await store.claim(.sample(payment)) }?.code == .tokenAlreadyClaimed)
        }
        try store.close()
    }
}

/// A tmpfs of a given size.
final class SmallFileSystem: Sendable {
    static let canBeCreated = (try? SmallFileSystem(kilobytes: 64)) != nil

    let path: String

    init(kilobytes: Int) throws {
        path = try makeDirectory().path
        guard try Self.run("mount", "-t", "tmpfs", "-o", "size=\(kilobytes)k,mode=700", "tmpfs", path) == 0 else {
            try FileManager.default.removeItem(atPath: path)
            throw CocoaError(.fileWriteNoPermission)
        }
    }

    deinit {
        _ = try? Self.run("umount", "-l", path)
        try? FileManager.default.removeItem(atPath: path)
    }

    func resize(kilobytes: Int) throws { _ = try Self.run("mount", "-o", "remount,size=\(kilobytes)k", path) }

    private static func run(_ command: String...) throws -> Int32 {
        try ChildProcess.run(command).status
    }
}
