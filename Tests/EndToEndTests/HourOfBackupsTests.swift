import Foundation
import MerchantTestSupport
import SandboxKit
import Testing
import Vocabulary

/// An hour's worth of changes with a backup after each moment's: every one verifies, and restored it serves that moment.
///
/// `MERCHANTKEYD_BACKUP_ROUNDS` and `MERCHANTKEYD_RESTORES` make it longer; `scripts/backup-test` sets them.
@Suite(.tags(.slow), .skippedInQuickRuns) struct HourOfBackupsTests {
    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap(Int.init) }
    static let rounds = number("MERCHANTKEYD_BACKUP_ROUNDS") ?? 60
    /// How many of the backups are restored, evenly spread.
    static let restores = min(rounds, number("MERCHANTKEYD_RESTORES") ?? 6)
    /// One a second, for an hour.
    static let changes = 3_600

    /// Onboards merchants, rolls and revokes keys, one change at a time, and knows what each key answers after it.
    private final class Work {
        private let client: LoadClient
        private let authority: SandboxAuthority
        private(set) var changes = 0
        /// By publicKeyHash, the status of resolving it; nil for one that is not there.
        private(set) var answers: [String: Int] = [:]
        private var next: [(Work) throws -> Void] = []
        private var merchants = 0

        init(_ socket: String) throws {
            client = try LoadClient(socket)
            authority = try SandboxAuthority(createdAt: Timestamp(Date()))
        }

        func change() throws {
            if next.isEmpty { next = plan() }
            try next.removeFirst()(self)
            changes += 1
        }

        private func plan() -> [(Work) throws -> Void] {
            let merchant = "merchant.com.hour.m\(merchants)"
            merchants += 1
            var keys: [(hash: String, csr: String)] = []
            func make(_ work: Work) throws {
                let made = try work.ask("POST", "/v1/merchants/\(merchant)/keys")
                keys.append((try #require(made["publicKeyHash"] as? String), try #require(made["csr"] as? String)))
                work.answers[keys[keys.count - 1].hash] = 404
            }
            func certify(_ work: Work) throws {
                let identifier = try #require(MerchantIdentifier(merchant))
                let certificate = try work.authority.issue(
                    csr: Array(keys[keys.count - 1].csr.utf8), merchant: identifier,
                    notBefore: Timestamp(Date()).adding(.seconds(-60)))
                _ = try work.ask("POST", "/v1/merchants/\(merchant)/certificates", certificate)
                work.answers[keys[keys.count - 1].hash] = 200
            }
            func move(_ verb: String, _ index: Int, _ body: String = "") -> (Work) throws -> Void {
                { work in
                    _ = try work.ask("POST", "/v1/keys/\(pathSpelling(keys[index].hash))/\(verb)", Array(body.utf8))
                    if verb == "revoke" { work.answers[keys[index].hash] = 410 }
                }
            }
            return [
                { _ = try $0.ask("POST", "/v1/merchants", Array(#"{"merchantIdentifier": "\#(merchant)"}"#.utf8)) },
                make, certify, move("promote", 0), make, certify, move("promote", 1),
                move("revoke", 0, #"{"reason": "rolled"}"#),
            ]
        }

        func ask(_ method: String, _ path: String, _ body: [UInt8] = []) throws -> [String: Any] {
            let (status, object) = try client.object(method, path, body)
            try #require((200...201).contains(status), "\(method) \(path): \(status) \(object)")
            return object
        }
    }

    @Test func `each backup of a busy hour verifies, and serves exactly its moment once restored`() throws {
        let installation = try Installation()
        try installation.start()
        let work = try Work(installation.adminSocket)
        let begin = Date()
        var verified = 0
        var restored = 0
        var provenKeys = 0
        for round in 1...Self.rounds {
            while work.changes < Self.changes * round / Self.rounds { try work.change() }
            let file = installation.path("b\(round)")
            let body = Array(#"{"file": "\#(file)"}"#.utf8)
            _ = try work.ask("POST", "/v1/backups", body)
            let verification = try work.ask("POST", "/v1/backups/verification", body)
            #expect(verification["good"] as? Bool == true, "round \(round): \(verification)")
            let decryptions = verification["keyPairsVerified"] as? Int ?? 0
            // The schedule makes successors of its own accord.
            #expect(decryptions >= work.answers.count, "round \(round): \(verification)")
            provenKeys += decryptions
            verified += 1
            if round * Self.restores / Self.rounds > restored {
                restored += 1
                try serves(file, work.answers, of: installation, round)
            }
            try FileManager.default.removeItem(atPath: file)
        }
        #expect(work.changes == Self.changes)
        #expect(verified == Self.rounds && restored == Self.restores)
        installation.stop()
        print(
            "hour of backups: \(work.changes) changes, \(verified) backups verified (\(provenKeys) keys proven), \(restored) restored and served, \(Int(Date().timeIntervalSince(begin))) s"
        )
    }

    /// Restores on an empty directory, as on a new machine.
    private func serves(
        _ file: String, _ answers: [String: Int], of installation: Installation, _ round: Int
    ) throws {
        let other = try Installation()
        try FileManager.default.createDirectory(
            atPath: other.path("state"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try FileManager.default.copyItem(
            atPath: installation.path("state/master.key"), toPath: other.path("state/master.key"))
        let done = try Installation.run([
            "\(Installation.programs)/merchantkeyctl", "backup", "restore", file, "--state-directory",
            other.path("state"),
        ])
        try #require(done.status == 0, "round \(round): \(done.output) \(done.error)")
        try other.start()
        let client = try LoadClient(other.decryptorSocket)
        for (hash, expected) in answers {
            let path = "/v1/keys/\(pathSpelling(hash))"
            #expect(try client.call("GET", path).status == expected, "round \(round): \(hash)")
            let symmetric = try client.call("POST", "\(path)/symmetric-key", Array(Installation.ephemeral.utf8)).status
            #expect(symmetric == expected, "round \(round): \(hash)")
        }
        #expect(try other.ctl("audit", "verify").status == 0, "round \(round)")
        other.stop()
    }
}
