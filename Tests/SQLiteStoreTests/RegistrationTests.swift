import Foundation
import GRDB
import MerchantCore
import SQLiteStore
import Schema
import Synchronization
import Testing
import Vocabulary

@Suite struct RegistrationTests {
    /// Each test has its own instance of the suite, and so its own store.
    let temporary: TemporaryStore

    init() throws { temporary = try TemporaryStore() }

    // swift-format-ignore: NeverForceUnwrap
    private static let integrator = MerchantIdentifier("platformintegrator.com.example")!

    static func partner(_ number: Int) -> PartnerInternalMerchantIdentifier {
        // swift-format-ignore: NeverForceUnwrap
        PartnerInternalMerchantIdentifier("shop|$;\(1000 + number)")!
    }

    static func names(_ texts: [String]) -> Set<DomainName> { Set(texts.compactMap { DomainName(ascii: $0) }) }

    static func registration(_ number: Int, _ domains: [String] = ["a.example"]) -> Registration {
        Registration(
            partnerInternalMerchantIdentifier: partner(number),
            desired: DesiredRegistration(
                partnerMerchantName: "Shöp", domainNames: names(domains),
                encryptTo: integrator, merchantUrl: "https://a.example/"),
            merchantIdentifier: nil, appleRecord: nil, createdAt: Sample.time, changedAt: Sample.time)
    }

    static func appleRecord(_ domains: Set<String>, of registration: Registration) -> AppleRecord {
        AppleRecord(
            details: .init(
                partnerMerchantName: registration.desired.partnerMerchantName,
                encryptToHash: registration.desired.encryptTo.appleHash, domainNames: domains),
            learnedAt: Sample.time.adding(.seconds(5)))
    }

    @Test func `the desired registration and Apple's record are stored at every change`() async throws {
        let store = temporary.store
        try await store.write { try $0.insert(Sample.record(Sample.merchant)) }
        var registration = Self.registration(1, ["a.example", "b.example"])
        let first = registration
        try await store.write { try $0.insert(first) }
        let absent = AppleRecord(details: nil, learnedAt: Sample.time)
        let steps: [(AppleRecord?, [String])] = [
            (Self.appleRecord(["a.example", "x y"], of: first), ["a.example", "b.example"]),
            (Self.appleRecord(["b.example"], of: first), ["b.example", "c.example"]),
            (absent, ["b.example"]), (absent, []), (Self.appleRecord(["c.example"], of: first), []),
            (Self.appleRecord(["c.example"], of: first), ["c.example"]), (nil, ["d.example"]), (absent, []),
        ]
        for (appleRecord, domains) in steps {
            registration.appleRecord = appleRecord
            registration.desired.domainNames = Self.names(domains)
            registration.merchantIdentifier = domains.isEmpty ? nil : Sample.merchant
            registration.changedAt = registration.changedAt.adding(.seconds(1))
            let changed = registration
            try await store.write { try $0.update(changed) }
            try checkTotals(temporary)
            try store.readNow { reader throws in
                #expect(try reader.registration(Self.partner(1)) == changed)
                let counts = try reader.counts(at: Sample.time)
                #expect(counts.registrations == (domains.isEmpty ? 0 : 1))
                #expect(counts.registrationsDrifting == (changed.drift.isEmpty ? 0 : 1))
                #expect(try reader.registrations(after: nil, limit: 9, all: false).count == (changed.isShown ? 1 : 0))
                #expect(try reader.registrations(after: nil, limit: 9, all: true).count == 1)
                #expect(
                    try reader.registration(naming: Sample.merchant) == (domains.isEmpty ? nil : Self.partner(1)))
            }
        }
        #expect(try await store.quickCheck() == [])
    }

    @Test func `a call is closed at most once, and a registration has at most one open call`() async throws {
        let store = temporary.store
        let registration = Self.registration(1)
        let merchant = try #require(MerchantIdentifier("platformintegrator.com.example"))
        let content = RegistrationCall.Content.register(registration.desired, merchant: nil)
        let opened = try await store.write { transaction throws in
            try transaction.insert(Sample.record(merchant))
            try transaction.insert(Self.registration(1, []))
            try transaction.insert(Self.registration(2, []))
            return try transaction.open(content, of: Self.partner(1), requestId: "r", at: Sample.time)
        }
        try store.readNow { reader throws in
            #expect(try reader.openCall(of: Self.partner(1)) == opened)
            #expect(try reader.openCall(of: Self.partner(2)) == nil)
            #expect(try reader.registration(naming: merchant) == Self.partner(1))
            #expect(try reader.counts(at: Sample.time).registrationCallsOpen == 1)
        }
        #expect(
            await refusal {
                _ = try await store.write {
                    try $0.open(content, of: Self.partner(1), requestId: "r", at: Sample.time)
                }
            }?.code == .registrationConflict)
        let second = try await store.write { transaction throws in
            try transaction.open(
                .unregister(Self.names(["a.example", "b.example"]), reason: "closed"), of: Self.partner(2),
                requestId: "r", at: Sample.time)
        }
        try store.readNow { reader throws in
            #expect(try reader.openCalls(after: nil, limit: 1) == [opened])
            #expect(try reader.openCalls(after: opened, limit: 9) == [second])
        }
        try checkTotals(temporary)
        try await store.write { try $0.close(opened, .repeated, finding: "why", at: Sample.time) }
        try checkTotals(temporary)
        #expect(
            await refusal { try await store.write { try $0.close(opened, .done, finding: nil, at: Sample.time) } }
                != nil)
        try store.readNow { reader throws in
            #expect(
                try reader.repeatedCalls(of: Self.partner(1), since: Sample.time.adding(.seconds(-1))) == [opened])
            #expect(try reader.repeatedCalls(of: Self.partner(1), since: Sample.time).isEmpty)
            #expect(try reader.openCalls(after: nil, limit: 9) == [second])
            #expect(try reader.counts(at: Sample.time).registrationCallsOpen == 1)
        }
    }

    @Test func `the domain verification file, the platform integrators and their active identity keys are read`()
        async throws
    {
        let store = temporary.store
        let integrator = try #require(MerchantIdentifier("platformintegrator.com.example"))
        #expect(try store.readNow { try $0.domainFile() } == nil)
        for bytes in [[UInt8](0...255), [0]] {
            let file = DomainFile(bytes: bytes, storedAt: Sample.time)
            try await store.write { try $0.store(file) }
            #expect(try store.readNow { try $0.domainFile() } == file)
        }
        try await temporary.onboard(Sample.merchant, .standby, seed: 1)
        try await store.write { transaction throws in
            try transaction.insert(Sample.record(integrator))
            for (seed, state) in [(2, KeyState.standby), (3, .revoked), (4, .current)] {
                let keyPair = Sample.keyPair(seed, of: integrator, state, algorithm: .rsaV1, purpose: .identity)
                try transaction.insert(keyPair, Sample.new(keyPair, seed: seed))
            }
        }
        try store.readNow { reader throws in
            #expect(try reader.platformIntegrators(limit: 9) == [integrator])
            #expect(
                try reader.activeIdentityKeyPairs(of: integrator).map(\.publicKeyHash) == [
                    Sample.hash(2), Sample.hash(4),
                ])
        }
    }

    @Test(arguments: [
        ("DELETE FROM registrations", "Apple may still act"),
        ("DELETE FROM registration_calls", "kept as history"),
        ("UPDATE registration_calls SET domain_names = 'x.example'", "never changes"),
        ("UPDATE registration_calls SET outcome = 'done'", "CHECK constraint failed"),
        ("UPDATE registrations SET partner_internal_merchant_identifier = 'other'", "never changes"),
        ("UPDATE registrations SET known_name = NULL, known_encrypt_to = NULL", "CHECK constraint failed"),
        ("UPDATE registrations SET learned_at = NULL", "CHECK constraint failed"),
        ("UPDATE registrations SET encrypt_to = 'shop'", "CHECK constraint failed"),
        ("UPDATE registrations SET merchant_identifier = 'merchant.unknown'", "FOREIGN KEY"),
        ("UPDATE registration_domains SET domain_name = 'other'", "never changes"),
        ("UPDATE registration_domains SET is_desired = 0, is_known = 0", "CHECK constraint failed"),
        ("INSERT INTO registration_domains VALUES (1, 'https://a.example', 1, 0)", "CHECK constraint failed"),
        ("INSERT INTO registration_domains VALUES (1, 'A.example', 1, 0)", "CHECK constraint failed"),
        ("INSERT INTO registration_domains VALUES (2, 'x.example', 0, 1)", "not registered there"),
        ("INSERT INTO registration_domains VALUES (9, 'x.example', 1, 0)", "FOREIGN KEY"),
        (
            "INSERT INTO registration_domains SELECT 1, 'd' || value || '.example', 1, 0 FROM json_each('[\((0..<99).map(String.init).joined(separator: ","))]')",
            "CHECK constraint failed"
        ),
        (
            "INSERT INTO registrations (partner_internal_merchant_identifier, partner_merchant_name, encrypt_to, created_at, changed_at) VALUES ('a/b', 'x', 'merchant.a', 1, 1)",
            "CHECK constraint failed"
        ),
        (
            "INSERT INTO registration_calls (registration_id, kind, domain_names, reason, request_id, opened_at) VALUES (1, 'unregister', 'a', 'r', 'r', 1)",
            "UNIQUE constraint failed"
        ),
        (
            "INSERT INTO registration_calls (registration_id, kind, domain_names, request_id, opened_at) VALUES (2, 'unregister', 'a', 'r', 1)",
            "CHECK constraint failed"
        ),
        ("UPDATE merchants SET removed_at = 1", "a registration names the merchant"),
        ("INSERT INTO domain_verification_file VALUES (2, x'00', 1)", "CHECK constraint failed"),
        ("UPDATE domain_verification_file SET content = x''", "CHECK constraint failed"),
    ])
    func `a statement that violates a constraint of registrations is refused`(statement: String, expected: String)
        async throws
    {
        let integrator = try #require(MerchantIdentifier("platformintegrator.com.example"))
        var registration = Self.registration(1)
        registration.appleRecord = Self.appleRecord(["a.example"], of: registration)
        let stored = registration
        try await temporary.store.write { transaction throws in
            try transaction.insert(Sample.record(integrator))
            try transaction.insert(stored)
            try transaction.insert(Self.registration(2, []))
            _ = try transaction.open(
                .unregister(Self.names(["a.example"]), reason: "closed"), of: Self.partner(1), requestId: "r",
                at: Sample.time)
            try transaction.store(DomainFile(bytes: [1], storedAt: Sample.time))
        }
        let found: String? = try temporary.withSeparateConnection { db in
            do {
                try db.execute(sql: statement)
                return nil
            } catch let error as DatabaseError { return error.message ?? "" }
        }
        #expect(found?.contains(expected) == true, "\(statement): \(found ?? "no error")")
    }

    @Test func `no query about registrations scans a whole table`() async throws {
        let statements = Mutex<Set<String>>([])
        let traced = try TemporaryStore(trace: { sql in statements.withLock { _ = $0.insert(sql) } })
        // A migration may scan whole tables, once.
        statements.withLock { $0 = [] }
        let partner = Self.partner(1)
        try await traced.store.write { transaction throws in
            try transaction.insert(Sample.record(Sample.merchant))
            var registration = Self.registration(1)
            try transaction.insert(registration)
            for domains: Set<String> in [["a.example", "x.example"], ["a.example"], []] {
                registration.appleRecord = Self.appleRecord(domains, of: registration)
                try transaction.update(registration)
            }
            let call = try transaction.open(
                .unregister(Self.names(["a.example"]), reason: "r"), of: partner, requestId: "r", at: Sample.time)
            try transaction.close(call, .done, finding: nil, at: Sample.time)
            try transaction.store(DomainFile(bytes: [1], storedAt: Sample.time))
            var merchant = Sample.record(Sample.merchant)
            merchant.removedAt = Sample.time
            try transaction.update(merchant)
        }
        try traced.store.readNow { reader throws in
            for all in [true, false] { _ = try reader.registrations(after: partner, limit: 10, all: all) }
            _ = try reader.registrations(of: Sample.merchant, after: partner, limit: 10)
            _ = try reader.registration(naming: Sample.merchant)
            _ = try reader.domains(prefix: "a.", limit: 10)
            _ = try reader.domains(containing: "a.", after: partner, examining: 10)
            _ = try reader.openCall(of: partner)
            _ = try reader.openCalls(after: nil, limit: 10)
            _ = try reader.repeatedCalls(of: partner, since: Sample.time)
            _ = try reader.platformIntegrators(limit: 2)
            _ = try reader.activeIdentityKeyPairs(of: Sample.merchant)
            _ = try reader.domainFile()
        }
        let executed = statements.withLock { $0 }.filter { sql in
            ["SELECT ", "UPDATE ", "DELETE "].contains { sql.hasPrefix($0) } && !sql.contains("sqlite_master")
        }
        #expect(executed.count > 18)
        let large = ["merchants", "key_pairs", "registrations", "registration_domains", "registration_calls"]
        try traced.withSeparateConnection { db in
            for sql in executed {
                let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN \(sql)")
                statement.setUncheckedArguments(
                    StatementArguments([Int?](repeating: nil, count: sql.count { $0 == "?" })))
                for row in try Row.fetchAll(statement) {
                    let step: String = row["detail"]
                    // Few rows meet the condition of this index.
                    guard !step.hasSuffix("USING INDEX registration_calls_one_open") else { continue }
                    #expect(!large.contains { step.hasPrefix("SCAN \($0)") }, "\(step) in \(sql)")
                    #expect(!step.contains("TEMP B-TREE"), "\(step) in \(sql)")
                }
            }
        }
    }
}
