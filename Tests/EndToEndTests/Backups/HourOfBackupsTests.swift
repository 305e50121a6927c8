import Foundation
import MerchantTestSupport
import SandboxKit
import Testing
import Vocabulary

/// The changes of a busy hour, and 60 backups by default. Each backup passes its verification. Some backups are
/// restored, and a daemon serves from them.
///
/// `MERCHANTKEYD_BACKUP_ROUNDS` and `MERCHANTKEYD_RESTORES` set the numbers of backups and restores.
/// `scripts/backup-test` sets these variables.
@Suite(.onlyOnSQLite, .tags(.slow), .skippedInQuickRuns) struct HourOfBackupsTests {
    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap(Int.init) }
    static let rounds = number("MERCHANTKEYD_BACKUP_ROUNDS") ?? 60
    /// The number of backups that are restored, evenly distributed.
    static let restores = min(rounds, number("MERCHANTKEYD_RESTORES") ?? 6)
    /// The number of changes: one in each second of an hour.
    static let changes = 3_600

    /// Onboards merchants, and rolls and revokes keys. Records which status each key should have on the
    /// decryptor socket.
    private final class Work {
        private let client: LoadClient
        private let authority: SandboxAuthority
        private(set) var changes = 0
        /// The expected status of resolving each key, by publicKeyHash.
        private(set) var statuses: [String: Int] = [:]
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
            func generate(_ work: Work) throws {
                let generated = try work.request("POST", "/v1/merchants/\(merchant)/keys")
                keys.append(
                    (try #require(generated["publicKeyHash"] as? String), try #require(generated["csr"] as? String)))
                work.statuses[keys[keys.count - 1].hash] = 404
            }
            func certify(_ work: Work) throws {
                let identifier = try #require(MerchantIdentifier(merchant))
                let certificate = try work.authority.issue(
                    csr: Array(keys[keys.count - 1].csr.utf8), merchant: identifier,
                    notBefore: Timestamp(Date()).adding(.seconds(-60)))
                _ = try work.request("POST", "/v1/merchants/\(merchant)/certificates", certificate)
                work.statuses[keys[keys.count - 1].hash] = 200
            }
            func transition(_ operation: String, _ index: Int, _ body: String = "") -> (Work) throws -> Void {
                { work in
                    _ = try work.request(
                        "POST", "/v1/keys/\(pathSpelling(keys[index].hash))/\(operation)", Array(body.utf8))
                    if operation == "revoke" { work.statuses[keys[index].hash] = 410 }
                }
            }
            return [
                { _ = try $0.request("POST", "/v1/merchants", Array(#"{"merchantIdentifier": "\#(merchant)"}"#.utf8)) },
                generate, certify, transition("promote", 0), generate, certify, transition("promote", 1),
                transition("revoke", 0, #"{"reason": "rolled"}"#),
            ]
        }

        func request(_ method: String, _ path: String, _ body: [UInt8] = []) throws -> [String: Any] {
            let (status, object) = try client.object(method, path, body)
            try #require((200...201).contains(status), "\(method) \(path): \(status) \(object)")
            return object
        }
    }

    @Test func `each backup of a busy hour passes verification, and serves its state after a restore`() throws {
        let installation = try Installation()
        try installation.start()
        let work = try Work(installation.adminSocket)
        let begin = Date()
        var verified = 0
        var restored = 0
        var keysVerified = 0
        for round in 1...Self.rounds {
            while work.changes < Self.changes * round / Self.rounds { try work.change() }
            let file = installation.path("b\(round)")
            let body = Array(#"{"file": "\#(file)"}"#.utf8)
            _ = try work.request("POST", "/v1/backups", body)
            let verification = try work.request("POST", "/v1/backups/verification", body)
            #expect(verification["good"] as? Bool == true, "round \(round): \(verification)")
            let keys = verification["keyPairsVerified"] as? Int ?? 0
            // The daemon also generates successors of keys, so there may be more key pairs.
            #expect(keys >= work.statuses.count, "round \(round): \(verification)")
            keysVerified += keys
            verified += 1
            if round * Self.restores / Self.rounds > restored {
                restored += 1
                try expectService(file, work.statuses, of: installation, round)
            }
            try FileManager.default.removeItem(atPath: file)
        }
        #expect(work.changes == Self.changes)
        #expect(verified == Self.rounds && restored == Self.restores)
        installation.stop()
        print(
            "hour of backups: \(work.changes) changes, \(verified) backups verified (\(keysVerified) keys unsealed), \(restored) restored and served, \(Int(Date().timeIntervalSince(begin))) s"
        )
    }

    /// Restores into a directory with only the master key, as on a new machine, and expects these statuses of the keys.
    private func expectService(
        _ file: String, _ statuses: [String: Int], of installation: Installation, _ round: Int
    ) throws {
        let other = try Installation()
        try other.createStateDirectory()
        try FileManager.default.copyItem(
            atPath: installation.path("state/master.key"), toPath: other.path("state/master.key"))
        let done = try Installation.run([
            "\(Installation.programs)/merchantkeyctl", "backup", "restore", file, "--state-directory",
            other.path("state"),
        ])
        try #require(done.status == 0, "round \(round): \(done.output) \(done.error)")
        try other.start()
        let client = try LoadClient(other.decryptorSocket)
        for (hash, expected) in statuses {
            let path = "/v1/keys/\(pathSpelling(hash))"
            #expect(try client.call("GET", path).status == expected, "round \(round): \(hash)")
            let symmetric = try client.call("POST", "\(path)/symmetric-key", Array(Installation.ephemeral.utf8)).status
            #expect(symmetric == expected, "round \(round): \(hash)")
        }
        #expect(try other.ctl("audit", "verify").status == 0, "round \(round)")
        other.stop()
    }
}
