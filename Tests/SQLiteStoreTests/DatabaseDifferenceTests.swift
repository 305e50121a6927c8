import Foundation
import MerchantCore
import SQLiteStore
import Testing
import Vocabulary

@Suite("What a restore undoes")
struct DatabaseDifferenceTests {
    let temporary: TemporaryStore

    init() throws { temporary = try TemporaryStore() }

    /// Compares the store as it is after `changes` with a backup from before them.
    private func difference(
        _ changes: @escaping @Sendable (any RepositoryWriting) throws -> Void
    ) async throws -> DatabaseDifference {
        let backup = temporary.directory.appending(path: "b").path
        _ = try await temporary.store.backUp(to: backup, programVersion: "1", at: Sample.moment)
        try BackupFile(reading: backup).copyDatabase(to: backup + ".copy")
        try await temporary.store.write { try changes($0) }
        return try DatabaseDifference(from: temporary.path, to: backup + ".copy")
    }

    private func states(_ difference: DatabaseDifference, _ kind: DatabaseDifference.Kind) -> [String] {
        difference[kind].named.map { "\($0.was) > \($0.now ?? "-")" }
    }

    @Test("a database that did not change since the backup differs in nothing")
    func nothing() async throws {
        try await temporary.onboard(Sample.merchant, .standby, certificateEnds: Sample.moment)
        let difference = try await difference { _ in }
        #expect(difference.isEmpty && difference.summary == nil)
    }

    @Test(
        "a key pair in another state is named with both states",
        arguments: [
            (KeyState.pending, KeyState.standby), (.standby, .current), (.current, .retiring), (.retiring, .current),
            (.pending, .revoked), (.revoked, .retiring),
        ])
    func keyPairs(before: KeyState, after: KeyState) async throws {
        let keyPair = try await temporary.onboard(Sample.merchant, before)
        let difference = try await difference { transaction in
            var changed = keyPair
            changed.state = after
            try transaction.update(changed)
        }
        #expect(states(difference, .fellBack) == ["\(after) > \(before)"])
        #expect(difference[.fellBack].named.first?.subject == .keyPair(keyPair.publicKeyHash))
        #expect(difference[.answeringAgain].count == 0 && difference[.missing].count == 0)
        #expect(difference.summary?.contains("\(keyPair.publicKeyHash)") == true)
    }

    @Test("a key pair that was revoked while active answers again, and is named once")
    func answersAgain() async throws {
        let keyPair = try await temporary.onboard(Sample.merchant, .standby)
        let difference = try await difference { transaction in
            var changed = keyPair
            changed.state = .revoked
            try transaction.update(changed)
        }
        #expect(states(difference, .answeringAgain) == ["revoked > standby"] && difference[.fellBack].count == 0)
    }

    @Test("a scheduled destruction that the backup does not have is named")
    func destructions() async throws {
        let keyPair = try await temporary.onboard(Sample.merchant, .revoked)
        let difference = try await difference { transaction in
            var changed = keyPair
            changed.destroyAfter = Sample.moment
            try transaction.update(changed)
        }
        #expect(difference[.destructions].named.map(\.subject) == [.keyPair(keyPair.publicKeyHash)])
    }

    @Test("certificates, rolls and merchants that the backup does not have are named")
    func missing() async throws {
        try await temporary.onboard(Sample.merchant, .current, seed: 1)
        try await temporary.onboard(Sample.merchant, .pending, seed: 2)
        let difference = try await difference { transaction in
            _ = try transaction.insert(Sample.certificate(2), of: Sample.hash(2))
            _ = try transaction.insertRoll(
                of: Sample.merchant, algorithm: .ecV1, from: Sample.hash(1), to: Sample.hash(2), at: Sample.moment)
            try transaction.insert(Sample.record(Sample.merchant(7)))
            var renamed = Sample.record(Sample.merchant)
            renamed.name = "Another"
            try transaction.update(renamed)
        }
        #expect(
            difference[.certificates].named.map(\.subject) == [
                .certificate(serialNumber: Sample.certificate(2).serialNumber, of: Sample.hash(2))
            ])
        #expect(difference[.rolls].named.map(\.subject) == [.roll(id: "1", to: Sample.hash(2))])
        #expect(states(difference, .rolls) == ["started > -"])
        #expect(
            difference[.merchants].named.map(\.merchantIdentifier) == [Sample.merchant, Sample.merchant(7)])
        #expect(difference[.merchants].named.last?.now == nil)
    }

    @Test("a roll whose step follows its key pair falls back with it")
    func rolls() async throws {
        try await temporary.onboard(Sample.merchant, .current, seed: 1)
        let next = try await temporary.onboard(Sample.merchant, .pending, seed: 2)
        try await temporary.store.write { transaction in
            _ = try transaction.insertRoll(
                of: Sample.merchant, algorithm: .ecV1, from: Sample.hash(1), to: Sample.hash(2), at: Sample.moment)
        }
        let difference = try await difference { transaction in
            var changed = next
            changed.state = .standby
            try transaction.update(changed)
        }
        #expect(states(difference, .rolls) == ["certificateStored > started"])
    }

    @Test("a registration that is missing, has other domains or other content is named")
    func registrations() async throws {
        try await temporary.store.write { transaction in
            for number in 1...3 { try transaction.insert(RegistrationTests.registration(number)) }
        }
        let difference = try await difference { transaction in
            // Number 1 stays as it is.
            try transaction.update(RegistrationTests.registration(2, ["b.example"]))
            try transaction.update(RegistrationTests.registration(3, []))
            try transaction.insert(RegistrationTests.registration(4, ["c.example", "d.example"]))
        }
        #expect(
            difference[.registrations].named.map(\.subject)
                == [2, 3, 4].map { .registration(RegistrationTests.partner($0)) })
        #expect(
            states(difference, .registrations) == [
                "registered with 1 domain > registered with 1 domain, other content",
                "unregistered > registered with 1 domain", "registered with 2 domains > -",
            ])
    }

    @Test("more changes than are named are counted all the same")
    func counts() async throws {
        let count = DatabaseDifference.mostNamed + 5
        let difference = try await difference { transaction in
            for number in 0..<count { try transaction.insert(Sample.record(Sample.merchant(number))) }
        }
        let merchants = difference[.merchants]
        #expect(merchants.count == count && merchants.named.count == DatabaseDifference.mostNamed)
        #expect(difference.summary?.hasPrefix("\(count) ") == true)
    }
}
