import Foundation
import GRDB
import MerchantCore
import SQLiteStore
import Synchronization
import Testing
import Vocabulary

@Suite struct ReadingTests {
    /// Each test has its own instance of the suite, and so its own store.
    let temporary: TemporaryStore

    init() throws { temporary = try TemporaryStore() }

    @Test func `every field of a key pair is stored`() async throws {
        var keyPair = try await temporary.onboard()
        let hash = keyPair.publicKeyHash
        keyPair.state = .revoked
        keyPair.stateSince = Sample.time.adding(.seconds(7))
        keyPair.revocationReason = "compromised"
        keyPair.destroyAfter = Sample.time.adding(.seconds(8))
        keyPair.exportedAt = Sample.time.adding(.seconds(9))
        let changed = keyPair
        try await temporary.store.write { try $0.update(changed) }
        try temporary.store.readNow { reader throws in
            #expect(try reader.keyPair(hash) == changed)
            #expect(try reader.certificateSigningRequest(of: hash) == Sample.digest("csr", 1))
            #expect(
                try reader.sealedPrivateKey(of: hash)
                    == SealedPrivateKey(version: 1, dataKeyIdentifier: 1, bytes: Sample.sealedBytes(1)))
            #expect(try reader.keyPairsDueForDestruction(at: Sample.time.adding(.seconds(7)), limit: 9) == [])
            #expect(try reader.keyPairsDueForDestruction(at: Sample.time.adding(.seconds(8)), limit: 9) == [hash])
            #expect(try reader.keyPair(Sample.hash(2)) == nil)
            #expect(try reader.certificateSigningRequest(of: Sample.hash(2)) == nil)
            #expect(try reader.sealedPrivateKey(of: Sample.hash(2)) == nil)
        }
    }

    @Test func `merchants are listed in pages, without removed ones`() async throws {
        try await temporary.store.write { transaction throws in
            for number in 0..<7 { try transaction.insert(Sample.record(Sample.merchant(number))) }
            var removed = Sample.record(Sample.merchant(3))
            removed.removedAt = Sample.time
            try transaction.update(removed)
        }
        try temporary.store.readNow { reader throws in
            var found: [MerchantIdentifier] = []
            var page = try reader.merchants(after: nil, limit: 2)
            while let last = page.last {
                found += page.map(\.identifier)
                page = try reader.merchants(after: last.identifier, limit: 2)
            }
            #expect(found == [0, 1, 2, 4, 5, 6].map(Sample.merchant))
            #expect(try reader.merchant(Sample.merchant(3))?.removedAt == Sample.time)
            #expect(try reader.merchants(after: nil, limit: -1) == [])
        }
    }

    @Test func `a key pair is found by every prefix of every spelling of its hash`() async throws {
        try await temporary.store.write { try $0.insert(Sample.record(Sample.merchant)) }
        for seed in 0..<60 { try await temporary.onboard(seed: seed) }
        let all = (0..<60).map(Sample.hash)
        try temporary.store.readNow { reader throws in
            for hash in all {
                for spelling in [hash.hex, hash.hex.uppercased(), hash.base64, hash.base64URL] {
                    for length in 1...spelling.count {
                        let text = String(spelling.prefix(length))
                        let expected = all.filter { other in
                            other.hex.hasPrefix(text.lowercased()) && text.allSatisfy(\.isHexDigit)
                                || other.base64.hasPrefix(text) || other.base64URL.hasPrefix(text)
                        }
                        let found = try reader.keyPairs(prefix: text, limit: 100).map(\.publicKeyHash)
                        #expect(Set(found) == Set(expected) && found.count == expected.count, "\(text)")
                    }
                }
            }
            #expect(try reader.keyPairs(prefix: "A", limit: 1).count <= 1)
            for text in ["", "!", "+_", "AAAA AAAA", String(repeating: "0", count: 65), "=", "ä"] {
                #expect(try reader.keyPairs(prefix: text, limit: 100) == [], "\(text)")
            }
        }
    }

    @Test func `counts and the lists of merchants below target and of expiring key pairs follow every change`()
        async throws
    {
        let store = temporary.store
        let soon = Sample.time.adding(.seconds(100))
        try await temporary.onboard(Sample.merchant(1), .current, seed: 1, certificateEnds: soon)
        try await temporary.onboard(Sample.merchant(1), .standby, seed: 2, certificateEnds: soon.adding(.seconds(50)))
        try await temporary.onboard(Sample.merchant(2), .current, seed: 3, certificateEnds: soon.adding(.seconds(10)))
        try await temporary.onboard(Sample.merchant(3), .pending, seed: 4)
        try store.readNow { reader throws in
            let counts = try reader.counts(at: soon.adding(.milliseconds(1)))
            #expect(counts.merchants == 3 && counts.merchantsBelowTarget == 2 && counts.certificates == 3)
            #expect(counts.keyPairs[.current] == 2 && counts.keyPairs[.standby] == 1 && counts.keyPairs[.pending] == 1)
            #expect(counts.activeWithExpiredCertificate == 1)
            #expect(try reader.counts(at: soon).activeWithExpiredCertificate == 0)
            let below = try reader.merchantsBelowTarget(afterMerchant: nil, limit: 10)
            #expect(below.map(\.merchantIdentifier) == [Sample.merchant(2), Sample.merchant(3)])
            #expect(below.map(\.activeKeyPairs) == [1, 0])
            #expect(below.map(\.currentCertificateExpiry) == [soon.adding(.seconds(10)), nil])
            #expect(try reader.merchantsBelowTarget(afterMerchant: Sample.merchant(2), limit: 10).count == 1)
            let ending = try reader.keyPairsExpiring(by: soon.adding(.seconds(10)), limit: 10)
            #expect(ending.map(\.keyPair.publicKeyHash) == [Sample.hash(1), Sample.hash(3)])
            #expect(ending.map(\.notAfter) == [soon, soon.adding(.seconds(10))])
        }
        // A second certificate of the same key pair expires later.
        _ = try await store.write {
            try $0.insert(Sample.certificate(9, ends: soon.adding(.seconds(900))), of: Sample.hash(1))
        }
        #expect(try store.readNow { try $0.keyPairsExpiring(by: soon, limit: 10) } == [])
        for state in [KeyState.retiring, .revoked, .standby, .revoked, .destroyed] {
            try await store.write { transaction throws in
                guard var keyPair = try transaction.keyPair(Sample.hash(1)) else { return }
                keyPair.state = state
                try transaction.update(keyPair)
            }
            try checkTotals(temporary)
        }
        try store.readNow { reader throws in
            #expect(try reader.merchantsBelowTarget(afterMerchant: nil, limit: 10).count == 3)
            #expect(try reader.counts(at: soon).keyPairs[.destroyed] == 1)
        }
    }

    @Test func `no query scans a whole large table`() async throws {
        let statements = Mutex<Set<String>>([])
        let traced = try TemporaryStore(trace: { sql in statements.withLock { _ = $0.insert(sql) } })
        // A migration may scan whole tables, once.
        statements.withLock { $0 = [] }
        let (merchant, hash) = (Sample.merchant, Sample.hash(1))
        var keyPair = try await traced.onboard(certificateEnds: Sample.time)
        keyPair.state = .current
        let current = keyPair
        let key = IdempotencyKey(caller: "uid:1", operation: "o", value: "v")
        try await traced.store.write { transaction throws in
            try transaction.update(Sample.record(merchant))
            try transaction.update(current)
            try transaction.append(Sample.entry(.keyPromoted, merchant: merchant, key: hash))
            _ = try transaction.idempotentOutcome(key)
            try transaction.remember(key, requestDigest: [1], resource: "r", at: ClockReading(Sample.time))
            try transaction.setDaemonValue("a", "b")
            var roll = try transaction.insertRoll(
                of: merchant, algorithm: .ecV1, from: nil, to: hash, at: Sample.time)
            roll.outcome = .finished
            roll.endedAt = Sample.time
            roll.remindAt = nil
            try transaction.update(roll)
            let seen = Occurrences(count: 1, first: Sample.time, last: Sample.time)
            try transaction.setKeyUse(KeyUse(requests: seen, decryptions: seen), of: hash)
            try transaction.addKeyUses([(hash, KeyUse(requests: seen, decryptions: seen))])
            try transaction.setNextExpiryCheck(of: hash, at: Sample.time)
            try transaction.recordExpiryWarning(of: Sample.time, days: 7, key: hash, at: Sample.time)
            try transaction.removeSealedPrivateKey(of: hash)
            try transaction.setWebhooks([WebhookRegistration(name: "w", kinds: nil)], at: Sample.time)
            try transaction.append(Sample.event(merchant: merchant))
            try transaction.markFailed(1, to: "w", because: "no", next: nil, at: Sample.time)
            _ = try transaction.unparkDeliveries(of: nil, to: nil, limit: 10)
            try transaction.markDelivered(1, to: "w", at: Sample.time)
            _ = try transaction.removeEvents(occurredBefore: Sample.time, limit: 10)
        }
        try traced.store.readNow { reader throws in
            let states = RollState.allCases.map { RollFilter.Step.state($0, quietCutoff: Sample.time) }
            for step in states + [.open, nil] {
                for merchant in [merchant, nil] {
                    _ = try reader.rolls(RollFilter(merchant: merchant, step: step), before: nil, limit: 10)
                }
            }
            _ = try reader.roll(1)
            _ = try reader.openRoll(of: merchant, algorithm: .ecV1)
            _ = try reader.rollsWaitingLongest(limit: 10)
            _ = try reader.rollCounts(quietCutoff: Sample.time)
            _ = try reader.rollsIdleSince(notAfter: Sample.time, limit: 10)
            _ = try reader.rollsToRemind(at: Sample.time, limit: 10)
            _ = try reader.finishedRollsWithoutNextPair(limit: 10)
            _ = try reader.keyUse(of: hash)
            _ = try reader.keyPairsChanged(by: [(hash, KeyUse())])
            _ = try reader.sortedByRow([hash])
            _ = try reader.keyPairsDueForExpiryCheck(at: Sample.time, limit: 10)
            _ = try reader.wasExpiryWarningSent(of: Sample.time, days: 7, key: hash)
            for filter in ActiveKeyPairFilter.allCases {
                _ = try reader.countKeyPairsExpiring(filter, from: Sample.time, to: Sample.time)
                _ = try reader.keyPairsExpiring(filter, from: Sample.time, to: Sample.time, limit: 10)
            }
            _ = try reader.countBelowTarget(certificateExpiringFrom: Sample.time, to: Sample.time)
            _ = try reader.countWithoutActiveKeyPair()
            _ = try reader.merchantsWithoutActiveKeyPair(limit: 10)
            _ = try reader.merchantsBelowTarget(certificateExpiringBy: Sample.time, limit: 10)
            _ = try reader.keyPairsScheduledForDestruction(limit: 10)
            _ = try reader.countScheduledForDestruction()
            _ = try reader.merchant(merchant)
            for isBelowTarget in [false, true] {
                for prefix in [nil, "merchant.a"] {
                    var filter = MerchantFilter()
                    (filter.identifierPrefix, filter.isBelowTarget) = (prefix, isBelowTarget)
                    for cursor in [nil, merchant] { _ = try reader.merchants(filter, after: cursor, limit: 10) }
                }
            }
            _ = try reader.merchants(identifierPrefix: "merchant.", limit: 10)
            _ = try reader.merchants(containing: "shop", after: nil, examining: 10)
            _ = try reader.keyPair(hash)
            _ = try reader.keyPairs(of: merchant)
            _ = try reader.keyPairs(prefix: "abcd", limit: 10)
            _ = try reader.certificates(of: hash)
            _ = try reader.certificateSigningRequest(of: hash)
            _ = try reader.sealedPrivateKey(of: hash)
            _ = try reader.keyPairsDueForDestruction(at: Sample.time, limit: 10)
            for (merchant, key) in [(nil, nil), (merchant, nil), (nil, hash), (merchant, hash)] {
                _ = try reader.auditRecords(merchant: merchant, key: key, before: nil, limit: 10)
            }
            _ = try reader.auditRecords(AuditFilter(caller: "uid:1"), from: nil, oldestFirst: false, limit: 10)
            _ = try reader.auditSegment(from: 1, limit: 10)
            _ = try reader.auditHead()
            _ = try reader.backupCoverage(at: Sample.time)
            _ = try reader.countIssuerNotVerified()
            _ = try reader.keyPairsWithIssuerNotVerified(limit: 10)
            _ = try reader.countStandbyKeyPairsInUse()
            _ = try reader.standbyKeyPairsInUse(limit: 10)
            _ = try reader.registrations(after: nil, limit: 10, all: true)
            _ = try reader.openCalls(after: nil, limit: 10)
            _ = try reader.keyPairs(after: hash, limit: 10)
            _ = try reader.counts(at: Sample.time)
            _ = try reader.merchantsBelowTarget(afterMerchant: nil, limit: 10)
            _ = try reader.keyPairsExpiring(by: Sample.time, limit: 10)
            _ = try reader.daemonValue("a")
            _ = try reader.keyPairs(in: .current, after: hash, limit: 10)
            for state in [nil, .standby, .current, .retiring] as [KeyState?] {
                _ = try reader.keyPairs(expiringBefore: Sample.time, in: state, after: hash, limit: 10)
            }
            _ = try reader.webhooks()
            _ = try reader.nextDeliveries(to: "w", limit: 10)
            for part in [EventQuery.Selection.after(0), .newest] {
                for merchants in [nil, [merchant]] as [Set<MerchantIdentifier>?] {
                    for (kind, severity) in [(nil, nil), (.belowTarget, nil), (nil, .notice), (.belowTarget, .notice)]
                        as [(Event.Kind?, Event.Severity?)]
                    {
                        _ = try reader.events(
                            EventQuery(part, merchants: merchants, kind: kind, severity: severity, limit: 10))
                    }
                }
            }
        }
        let executed = statements.withLock { $0 }.filter { sql in
            ["SELECT ", "UPDATE ", "DELETE "].contains { sql.hasPrefix($0) } && !sql.contains("sqlite_master")
        }
        #expect(executed.count > 25)
        let large =
            ["merchants", "key_pairs", "sealed_private_keys", "certificates", "audit", "idempotency_keys"]
            + [
                "old", "event_deliveries", "key_uses", "key_warnings", "key_watches", "rolls", "registrations",
                "registration_calls",
            ]
        try traced.withSeparateConnection { db in
            for sql in executed {
                let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN \(sql)")
                try statement.validateArguments(StatementArguments(statement.unboundArguments))
                statement.setUncheckedArguments(StatementArguments(statement.unboundArguments))
                for row in try Row.fetchAll(statement) {
                    let step: String = row["detail"]
                    #expect(!large.contains { step.hasPrefix("SCAN \($0)") }, "\(step) in \(sql)")
                    // A query without a condition reads events in their order, up to a limit.
                    if step.hasPrefix("SCAN events") {
                        #expect(sql.contains("ORDER BY sequence") && !sql.contains("WHERE"))
                    }
                    // There are few backups, and only those with the same newest key pair are sorted.
                    #expect(!step.contains("TEMP B-TREE") || sql.contains("FROM backups"), "\(step) in \(sql)")
                }
            }
        }
    }
}

extension Statement {
    /// NULL for each argument of the statement.
    fileprivate var unboundArguments: [Int?] { Array(repeating: nil, count: sql.count { $0 == "?" }) }
}
