import MerchantCore
import MerchantTestSupport
import PostgresStore
import SQLiteStore
import StoreCore
import Testing
import Vocabulary

/// The files of a SQLite store with rows in every table.
final class CopiedStore: Sendable {
    let scratch: Scratch

    var database: String { scratch.path("merchantkeyd.sqlite") }
    var claims: String { scratch.path("claims.sqlite") }

    init() async throws {
        scratch = try Scratch()
        let store = try SQLiteStore.open(path: database)
        try store.insert(SealedDataKey(identifier: 1, bytes: [1], masterKeyCheck: [1], createdAt: Sample.time(0)))
        // This value does not close the store, because the rotation below still uses the store.
        let open = OpenStore(store) {}
        try await open.storeMerchant(0, .retiring, .current, .standby, .pending)
        try await open.storeMerchant(1, .revoked, .standby)
        try await Self.fill(open)
        _ = try await store.beginRotation(
            to: SealedDataKey(identifier: 2, bytes: [2], masterKeyCheck: [2], createdAt: Sample.time(1)),
            replacesMasterKey: false, generatedMasterKey: nil, recording: Sample.entry(.masterKeyRotationStarted))
        try store.close()
        try await fillClaims()
    }

    private static func fill(_ store: OpenStore) async throws {
        try await store.write { transaction in
            try transaction.removeSealedPrivateKey(of: Sample.hash(10))
            try transaction.update(Sample.keyPair(10, of: 1, .destroyed))
            _ = try transaction.insertRoll(
                of: Sample.identifier(0), algorithm: .ecV1, from: Sample.hash(1), to: Sample.hash(2),
                at: Sample.time(5))
            try transaction.addKeyUses([(Sample.hash(1), KeyUseContract.use(2, 10, 20))])
            try transaction.setNextExpiryCheck(of: Sample.hash(1), at: Sample.time(10))
            try transaction.recordExpiryWarning(
                of: Sample.time(99), days: 30, key: Sample.hash(1), at: Sample.time(1))
            try transaction.insert(Sample.registration(1, Sample.wanted("a.example", "b.example")))
            _ = try transaction.open(
                .register(Sample.wanted("b.example"), merchant: Sample.identifier(0)), of: Sample.partner(1),
                requestId: "r", at: Sample.time(9))
            try transaction.store(DomainFile(bytes: [1, 2, 3], storedAt: Sample.time(1)))
            try transaction.setWebhooks([WebhookRegistration(name: "hook", kinds: nil)], at: Sample.time(0))
            for number in 0..<7 {
                try transaction.append(Sample.event(merchant: number % 2, at: number))
                try transaction.append(Sample.entry(.keyGenerated, merchant: 0, key: number, at: number))
            }
            try transaction.remember(
                IdempotencyKey(caller: "uid:1", operation: "o", value: "v"), requestDigest: [1], resource: "r",
                at: ClockReading(Sample.time(0)))
            try transaction.setDaemonValue("name", "größer – 好")
            try transaction.record(Sample.backup(1, newestKeyPairId: 2), at: "/a", verifiedAt: nil)
        }
        try await store.write { transaction in
            try transaction.insert(Sample.access(1))
            try transaction.insert(Sample.access(2, certificate: 7))
            try transaction.insert(Sample.invitation(1))
            try transaction.insert(Sample.session(1, invitation: 1))
            try transaction.insert(Sample.session(2, uid: 1000, groups: [4, 27]))
            try transaction.insert(Sample.login(1))
            for number in 1...3 { try transaction.store(Sample.merchantToken(number)) }
            try transaction.store(
                StoredMPAN(
                    sealed: SealedMPAN(
                        owner: SealedMPAN.Owner(Sample.token(1), of: Sample.identifier(0)), version: 1,
                        dataKeyIdentifier: 1, bytes: [UInt8](repeating: 9, count: SealedMPAN.length)),
                    receivedAt: Sample.time(1)))
            try transaction.insert(
                TokenNotificationPath(
                    secret: String(repeating: "a", count: 32), merchantIdentifier: Sample.identifier(0),
                    createdAt: Sample.time(0)))
        }
        for number in 1...3 { try await store.notify(number, at: number) }
    }

    private func fillClaims() async throws {
        let store = try ClaimStore.open(path: claims, clock: HandMovedClock(Sample.time(0)))
        for number in 1...5 {
            _ = try await store.claim(
                TokenClaim(
                    transactionId: Sample.hash(number).bits, caller: "uid:1000", at: Sample.time(number),
                    requestIdentity: number % 2 == 0
                        ? nil
                        : .init(idempotencyKeyDigest: Sample.hash(number).bits, requestDigest: Sample.hash(9).bits)))
            try await store.claimNonce(
                NonceClaim(nonce: "0\(number)", nonceSignature: "40aa", caller: "uid:1000", at: Sample.time(number)))
        }
        try store.close()
    }

    func tables() throws -> SQLiteTables { try SQLiteTables(database: database, claims: claims) }

    /// The mark of an unfinished copy of this store.
    func mark() throws -> UnfinishedCopyMark {
        let tables = try tables()
        let audit = try #require(try tables.tables().first { $0.name == "audit" })
        return UnfinishedCopyMark(sourceHead: try #require(try tables.auditHead(in: audit)))
    }
}

/// A database that fails after some reads, as if the process had been killed.
final class InterruptedTables: TableReading {
    struct Interruption: Error {}

    private let tablesToRead: any TableReading
    private var remainingReads: Int

    init(_ tables: any TableReading, after reads: Int) {
        tablesToRead = tables
        remainingReads = reads
    }

    func tables() throws -> [CopiedTable] { try tablesToRead.tables() }

    func rows(of table: CopiedTable, after key: CopiedRow?, limit: Int) throws -> [CopiedRow] {
        guard remainingReads > 0 else { throw Interruption() }
        remainingReads -= 1
        return try tablesToRead.rows(of: table, after: key, limit: limit)
    }

    func lastKey(of table: CopiedTable) throws -> CopiedRow? { try tablesToRead.lastKey(of: table) }

    func assignedNumbers() throws -> [String: Int64] { try tablesToRead.assignedNumbers() }
}
