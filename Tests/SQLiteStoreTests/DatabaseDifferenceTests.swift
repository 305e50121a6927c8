import Foundation
import MerchantCore
import SQLiteStore
import Testing
import Vocabulary

@Suite struct DatabaseDifferenceTests {
    let temporary: TemporaryStore

    init() throws { temporary = try TemporaryStore() }

    /// Compares the store after `changes` with a backup made before them.
    private func difference(
        _ changes: @escaping @Sendable (any RepositoryWriting) throws -> Void
    ) async throws -> DatabaseDifference {
        let backup = temporary.directory.appending(path: "b").path
        _ = try await temporary.backUp(to: backup)
        try BackupFile(reading: backup).copyDatabase(to: backup + ".copy")
        try await temporary.store.write { try changes($0) }
        return try DatabaseDifference(from: temporary.path, to: backup + ".copy")
    }

    private func states(_ difference: DatabaseDifference, _ kind: DatabaseDifference.Kind) -> [String] {
        difference[kind].listed.map { "\($0.was) > \($0.now ?? "-")" }
    }

    @Test func `a database that has not changed since the backup has no difference`() async throws {
        try await temporary.onboard(Sample.merchant, .standby, certificateEnds: Sample.time)
        let difference = try await difference { _ in }
        #expect(difference.isEmpty && difference.summary == nil)
    }

    @Test(arguments: [
        (KeyState.pending, KeyState.standby), (.standby, .current), (.current, .retiring), (.retiring, .current),
        (.pending, .revoked), (.revoked, .retiring),
    ])
    func `a key pair in another state is reported with both states`(before: KeyState, after: KeyState) async throws {
        let keyPair = try await temporary.onboard(Sample.merchant, before)
        let difference = try await difference { transaction in
            var changed = keyPair
            changed.state = after
            try transaction.update(changed)
        }
        #expect(states(difference, .earlierState) == ["\(after) > \(before)"])
        #expect(difference[.earlierState].listed.first?.subject == .keyPair(keyPair.publicKeyHash))
        #expect(difference[.usableAgain].count == 0 && difference[.missing].count == 0)
        #expect(difference.summary?.contains("\(keyPair.publicKeyHash)") == true)
    }

    @Test func `a key pair that was revoked while active is reported once, as usable again`() async throws {
        let keyPair = try await temporary.onboard(Sample.merchant, .standby)
        let difference = try await difference { transaction in
            var changed = keyPair
            changed.state = .revoked
            try transaction.update(changed)
        }
        #expect(states(difference, .usableAgain) == ["revoked > standby"] && difference[.earlierState].count == 0)
    }

    @Test func `a scheduled destruction that is missing from the backup is reported`() async throws {
        let keyPair = try await temporary.onboard(Sample.merchant, .revoked)
        let difference = try await difference { transaction in
            var changed = keyPair
            changed.destroyAfter = Sample.time
            try transaction.update(changed)
        }
        #expect(difference[.destructions].listed.map(\.subject) == [.keyPair(keyPair.publicKeyHash)])
    }

    @Test func `new certificates, rolls and merchants, and renamed merchants, are reported`() async throws {
        try await temporary.onboard(Sample.merchant, .current, seed: 1)
        try await temporary.onboard(Sample.merchant, .pending, seed: 2)
        let difference = try await difference { transaction in
            _ = try transaction.insert(Sample.certificate(2), of: Sample.hash(2))
            _ = try transaction.insertRoll(
                of: Sample.merchant, algorithm: .ecV1, from: Sample.hash(1), to: Sample.hash(2), at: Sample.time)
            try transaction.insert(Sample.record(Sample.merchant(7)))
            var renamed = Sample.record(Sample.merchant)
            renamed.name = "Another"
            try transaction.update(renamed)
        }
        #expect(
            difference[.certificates].listed.map(\.subject) == [
                .certificate(serialNumber: Sample.certificate(2).serialNumber, of: Sample.hash(2))
            ])
        #expect(difference[.rolls].listed.map(\.subject) == [.roll(id: "1", to: Sample.hash(2))])
        #expect(states(difference, .rolls) == ["started > -"])
        #expect(
            difference[.merchants].listed.map(\.merchantIdentifier) == [Sample.merchant, Sample.merchant(7)])
        #expect(difference[.merchants].listed.last?.now == nil)
    }

    @Test func `a roll is reported when its key pair is in an earlier state`() async throws {
        try await temporary.onboard(Sample.merchant, .current, seed: 1)
        let next = try await temporary.onboard(Sample.merchant, .pending, seed: 2)
        try await temporary.store.write { transaction in
            _ = try transaction.insertRoll(
                of: Sample.merchant, algorithm: .ecV1, from: Sample.hash(1), to: Sample.hash(2), at: Sample.time)
        }
        let difference = try await difference { transaction in
            var changed = next
            changed.state = .standby
            try transaction.update(changed)
        }
        #expect(states(difference, .rolls) == ["certificateStored > started"])
    }

    @Test func `a registration that is missing or has other domains or content is reported`() async throws {
        try await temporary.store.write { transaction in
            for number in 1...3 { try transaction.insert(RegistrationTests.registration(number)) }
        }
        let difference = try await difference { transaction in
            // Number 1 does not change.
            try transaction.update(RegistrationTests.registration(2, ["b.example"]))
            try transaction.update(RegistrationTests.registration(3, []))
            try transaction.insert(RegistrationTests.registration(4, ["c.example", "d.example"]))
        }
        #expect(
            difference[.registrations].listed.map(\.subject)
                == [2, 3, 4].map { .registration(RegistrationTests.partner($0)) })
        #expect(
            states(difference, .registrations) == [
                "registered with 1 domain > registered with 1 domain, other content",
                "unregistered > registered with 1 domain", "registered with 2 domains > -",
            ])
    }

    @Test func `accesses that were revoked, rotated or created after the backup are reported`() async throws {
        let before = try ["kept", "revoked", "rotated"].enumerated().map { index, name in
            try PortalTests.access(name, secret: "access0\(index)")
        }
        let created = try PortalTests.access("created", secret: "access09")
        let other = try PortalTests.access("rotated", secret: "access08")
        try await temporary.store.write { for access in before { try $0.insert(access) } }
        let difference = try await difference { transaction in
            var revoked = before[1]
            revoked.revokedAt = Sample.time
            try transaction.update(revoked)
            var rotated = before[2]
            rotated.secrets = other.secrets + rotated.secrets
            rotated.lastUsedAt = Sample.time
            try transaction.update(rotated)
            try transaction.insert(created)
        }
        #expect(
            difference[.accesses].listed.map(\.subject) == [created, before[1], before[2]].map { .access($0.name) })
        #expect(
            states(difference, .accesses) == [
                "not revoked > -", "revoked > not revoked", "not revoked > not revoked with other tokens",
            ])
        #expect(difference.summary?.contains("access revoked") == true)
    }

    @Test func `invitations that were used, revoked or created after the backup are reported`() async throws {
        let before = try (1...3).map {
            try PortalTests.invitation("000000000000000\($0)", secret: "invite0\($0)")
        }
        let created = try PortalTests.invitation("0000000000000009", secret: "invite09")
        try await temporary.store.write { transaction in
            try transaction.insert(Sample.record(Sample.merchant))
            for invitation in before { try transaction.insert(invitation) }
        }
        let difference = try await difference { transaction in
            var used = before[1]
            used.usedAt = Sample.time
            try transaction.update(used)
            var revoked = before[2]
            revoked.revokedAt = Sample.time
            try transaction.update(revoked)
            try transaction.insert(created)
        }
        #expect(
            difference[.invitations].listed.map(\.subject)
                == [before[1], before[2], created].map { .invitation($0.identifier) })
        #expect(states(difference, .invitations) == ["used > open", "revoked > open", "open > -"])
        #expect(difference[.invitations].listed.first?.merchantIdentifier == Sample.merchant)
    }

    @Test func `merchant tokens that were added or changed after the backup are reported`() async throws {
        let before = (1...4).map { Sample.merchantToken($0) }
        try await temporary.store.write { transaction in
            try transaction.insert(Sample.record(Sample.merchant))
            for token in before { try transaction.store(token) }
        }
        let difference = try await difference { transaction in
            // Only the time of the last use of token 1 changes, which is not a difference.
            var changed = before
            changed[0].lastSeenAt = Sample.time.adding(.seconds(60))
            changed[1].state = .unlinked
            changed[2].notificationURL = "https://example.com/tokenapi"
            for token in changed + [Sample.merchantToken(0)] { try transaction.store(token) }
        }
        #expect(
            difference[.merchantTokens].listed.map(\.subject)
                == [2, 3, 0].map { .merchantToken(Sample.token($0)) })
        #expect(
            states(difference, .merchantTokens) == [
                "unlinked > linked", "linked > linked with another notification URL", "linked > -",
            ])
        #expect(difference[.merchantTokens].listed.first?.merchantIdentifier == Sample.merchant)
    }

    @Test func `notification URLs and waiting notifications that are missing from the backup are reported`()
        async throws
    {
        let secrets = ["a", "b"].map { String(repeating: $0, count: 32) }
        let paths = secrets.map {
            TokenNotificationPath(secret: $0, merchantIdentifier: Sample.merchant, createdAt: Sample.time)
        }
        try await temporary.store.write { transaction in
            try transaction.insert(Sample.record(Sample.merchant))
            try transaction.insert(paths[0])
            try transaction.insertTokenNotification(
                Sample.tokenEvent(1), of: Sample.merchant, from: "a", at: Sample.time)
        }
        let difference = try await difference { transaction in
            try transaction.insert(paths[1])
            for number in 2...3 {
                try transaction.insertTokenNotification(
                    Sample.tokenEvent(number), of: Sample.merchant, from: "a", at: Sample.time)
            }
            guard var closed = try transaction.tokenNotification(Sample.tokenEvent(3), of: Sample.merchant) else {
                return
            }
            closed.state = .done
            try transaction.update(closed, at: Sample.time)
        }
        #expect(difference[.tokenNotificationPaths].listed.map(\.subject) == [.tokenNotificationPath])
        #expect(
            difference[.tokenNotifications].listed.map(\.subject) == [.tokenNotification(Sample.tokenEvent(2))])
        #expect(states(difference, .tokenNotifications) == ["waiting > -"])
        let summary = try #require(difference.summary)
        #expect(!secrets.contains { summary.contains($0) } && summary.contains("event-2"))
    }

    @Test func `all changes are counted, even if they are too many to be named`() async throws {
        let count = DatabaseDifference.maximumListed + 5
        let difference = try await difference { transaction in
            for number in 0..<count { try transaction.insert(Sample.record(Sample.merchant(number))) }
        }
        let merchants = difference[.merchants]
        #expect(merchants.count == count && merchants.listed.count == DatabaseDifference.maximumListed)
        #expect(difference.summary?.hasPrefix("\(count) ") == true)
    }
}
