import Foundation
import MerchantTestSupport
import Testing

/// Rotations of the master key and the data key, also while the daemon serves and is killed.
@Suite struct MasterKeyRotationTests {
    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap(Int.init) }
    private static let keys = number("MERCHANTKEYD_ROTATION_KEYS") ?? 2000
    private static let kills = number("MERCHANTKEYD_ROTATION_KILLS") ?? 10

    let installation: Installation

    init() throws { installation = try Installation() }

    private func status() throws -> (state: String, done: Int, total: Int, masterKey: String) {
        let document = try installation.ctlJSON("master-key", "status")
        let rotation = document["rotation"] as? [String: Any] ?? [:]
        return (
            rotation["state"] as? String ?? "none", rotation["done"] as? Int ?? 0, rotation["total"] as? Int ?? 0,
            document["masterKeyIdentifier"] as? String ?? ""
        )
    }

    private func masterKeyFiles() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: installation.path("state"))
            .filter { $0.contains("master") }.sorted()
    }

    @Test(.onlyOnSQLite, .tags(.slow), .skippedInQuickRuns)
    func `a rotation that is killed at random times finishes, and every key can be used meanwhile`() throws {
        try installation.start()
        let population = try KeyPopulation(
            Self.keys, certified: min(500, Self.keys / 4), by: installation.adminSocket)
        let expected = try population.symmetricKeys(by: installation.decryptorSocket)
        #expect(expected.values.allSatisfy { $0.count == 44 })
        let first = try status().masterKey
        let failures = Guarded<[String]>([])
        let successful = Guarded(0)
        var (interrupted, round) = (0, 0)
        // Kills fall at random times. If none interrupts a rotation, more rounds follow, up to 20 times as many.
        while round < Self.kills || interrupted == 0 && round < 20 * Self.kills {
            round += 1
            let sockets = (installation.adminSocket, installation.decryptorSocket)
            let (status, _) = try LoadClient(sockets.0).object("POST", "/v1/master-key/rotation", Array("{}".utf8))
            #expect(status == 202)
            let payments = BackgroundThread {
                guard let client = try? LoadClient(sockets.1) else { return }
                for hash in (0...).lazy.map({ _ in population.certified.randomElement() ?? "" }) {
                    guard let key = try? KeyPopulation.symmetricKey(of: hash, client) else { return }
                    successful.update { $0 += 1 }
                    if key != expected[hash] { failures.update { $0.append("\(hash): \(key)") } }
                }
            }
            let onboarding = BackgroundThread { [round] in
                guard let client = try? LoadClient(sockets.0) else { return }
                let merchant = "merchant.com.meanwhile.r\(round)"
                let body = Array(#"{"merchantIdentifier": "\#(merchant)"}"#.utf8)
                guard (try? client.object("POST", "/v1/merchants", body)) != nil else { return }
                for _ in 0..<60 {
                    guard let (status, answer) = try? client.object("POST", "/v1/merchants/\(merchant)/keys")
                    else { return }
                    if status != 201 { failures.update { $0.append("a new key: \(status) \(answer)") } }
                }
            }
            Installation.waitRandomly(upTo: Double(Self.keys) / 10_000)
            installation.stop(SIGKILL)
            for thread in [payments, onboarding] { thread.join() }
            try installation.start()
            if installation.log.contains("resuming an interrupted rotation") { interrupted += 1 }
        }
        #expect(try installation.ctl("master-key", "rotate", "--yes").status == 0)
        #expect(failures.value.isEmpty, "\(failures.value.prefix(5))")
        #expect(interrupted > 0 && successful.value > Self.kills, "\(interrupted) of \(round), \(successful.value)")

        // One more without a kill, to measure its duration.
        let begin = ContinuousClock.now
        let last = try installation.ctl("master-key", "rotate", "--yes")
        let took = ContinuousClock.now - begin
        #expect(last.status == 0, "\(last.error)")
        let end = try status()
        #expect(end.state == "finished" && end.total >= Self.keys && end.done == end.total, "\(end)")
        #expect(end.masterKey != first)
        #expect(try masterKeyFiles() == ["master.key"])
        #expect(try population.symmetricKeys(by: installation.decryptorSocket) == expected)
        // The backup's verification unseals every private key, also those generated meanwhile, and checks the audit.
        let verification = try installation.ctl("backup", "create", installation.path("after.backup"))
        #expect(verification.status == 0, "\(verification.output) \(verification.error)")
        print(
            "rotation test: \(end.total) private keys in \(took), \(round) kills (\(interrupted) of them in the middle), \(successful.value) symmetric keys restored meanwhile"
        )
    }

    @Test(.onlyOnSQLite) func `a rotation erases all other data keys, and the audit records its start and end`() throws
    {
        try installation.start()
        _ = try KeyPopulation(100, certified: 0, by: installation.adminSocket)
        let before = try status().masterKey
        #expect(try installation.ctl("master-key", "rotate", "--yes", "--data-key-only").status == 0)
        #expect(try status().masterKey == before)
        let rotated = try installation.ctl("master-key", "rotate", "--yes")
        #expect(rotated.status == 0, "\(rotated.error)")
        let audit = try installation.ctlJSON("audit", "list")["items"] as? [[String: Any]] ?? []
        let actions = audit.compactMap { $0["action"] as? String }.filter { $0.hasPrefix("masterKey") }
        #expect(actions.filter { $0 == "masterKeyRotationStarted" }.count == 2)
        #expect(actions.filter { $0 == "masterKeyRotationFinished" }.count == 2)
        let ended = audit.first { $0["action"] as? String == "masterKeyRotationFinished" }
        #expect(ended?["after"] as? String == "masterKey=\(try status().masterKey) dataKey=130")
        installation.stop()
        #expect(try installation.sql("SELECT DISTINCT data_key_id FROM sealed_private_keys") == "130")
        let erased = "SELECT id, sealed_bytes = zeroblob(60) FROM data_keys ORDER BY id"
        #expect(try installation.sql(erased) == "128 1\n129 1\n130 0")
    }

    @Test(.onlyOnSQLite) func `a rotation removes the incomplete file of a killed rotation, but no key`() throws {
        try installation.start()
        let (key, incomplete) = (installation.path("state/master.key"), installation.path("state/.master.key.next.new"))
        let old = try Data(contentsOf: URL(filePath: key))
        // As if killed between link and unlink: both names refer to the master key.
        #expect(link(key, incomplete) == 0)
        #expect(try installation.ctl("backup", "create", installation.path("before.backup")).status == 0)
        #expect(try installation.ctl("master-key", "rotate", "--yes").status == 0)
        #expect(!FileManager.default.fileExists(atPath: incomplete))
        #expect(try Data(contentsOf: URL(filePath: key)) != old)
        try installation.restart()
        // The backup needs the old master key. The refusal names the flags that verify it.
        let verification = try installation.ctl("backup", "verify", installation.path("before.backup"))
        #expect(verification.status == 1 && verification.refusalCode == "backupFailed", "\(verification.error)")
        #expect(verification.error.contains("--master-key-file"), "\(verification.error)")
        #expect(try installation.ctl("audit", "verify", "--head", "x").status == 2)
    }

    @Test func `a rotation without confirmation or as a dry run changes nothing, and a dry run lists the steps`() throws
    {
        try installation.start()
        let refused = try installation.ctl("master-key", "rotate")
        #expect(refused.status == 1 && refused.error.contains("--yes"), "\(refused.error)")
        let plan = try installation.ctlJSON("master-key", "rotate", "--dry-run")
        #expect(plan["dryRun"] as? Bool == true && (plan["steps"] as? [String])?.isEmpty == false, "\(plan)")
        #expect(try status().state == "none" && masterKeyFiles() == ["master.key"])
    }

    @Test func `a generated master key that was never used does not block a rotation, which generates another`() throws
    {
        try installation.start()
        let leftover = installation.path("state/master.key.next")
        try Data(repeating: 7, count: 32).write(to: URL(filePath: leftover))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: leftover)
        try installation.restart()
        #expect(try installation.ctl("master-key", "rotate", "--yes").status == 0)
        let key = try Data(contentsOf: URL(filePath: installation.path("state/master.key")))
        #expect(key.count == 32 && key != Data(repeating: 7, count: 32))
        try installation.restart()
    }

    @Test(.onlyOnSQLite)
    func `a rotation creates a new master key if its file was lost, and every key can be used after a restart`() throws
    {
        try installation.start()
        let population = try KeyPopulation(20, certified: 5, by: installation.adminSocket)
        let expected = try population.symmetricKeys(by: installation.decryptorSocket)
        let (key, former) = (installation.path("state/master.key"), try status().masterKey)
        try FileManager.default.removeItem(atPath: key)

        // Everything that reports the missing file names the rotation.
        let remedy = "master-key rotate"
        let reloaded = try installation.ctl("reload")
        #expect(reloaded.status == 1 && reloaded.error.contains(remedy), "\(reloaded.error)")
        let diagnosed = try installation.ctl(
            "diagnose", "--output", "json", "--state-directory", installation.stateDirectory)
        #expect(diagnosed.status == 1 && diagnosed.output.contains(remedy), "\(diagnosed.output)")
        try installation.eventually("the missing master key is reported") {
            try installation.details(of: "masterKeyMissing").contains(remedy)
        }

        let dataKeyOnly = try installation.ctl("master-key", "rotate", "--yes", "--data-key-only")
        #expect(dataKeyOnly.status == 1 && dataKeyOnly.refusalCode == "masterKeyConflict", "\(dataKeyOnly.error)")
        #expect(try installation.ctl("master-key", "rotate", "--dry-run").status == 0)
        #expect(try masterKeyFiles() == [])
        let rotated = try installation.ctl("master-key", "rotate", "--yes")
        #expect(rotated.status == 0, "\(rotated.error)")
        #expect(try masterKeyFiles() == ["master.key"])
        let mode = try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let identifier = try installation.ctlJSON("master-key", "identify", key)["masterKeyIdentifier"] as? String
        #expect(try identifier == status().masterKey && identifier != former)
        try installation.eventually("the finding ends") { try installation.finding("masterKeyMissing") == nil }
        try installation.restart()
        #expect(try population.symmetricKeys(by: installation.decryptorSocket) == expected)
    }

    @Test(.onlyOnSQLite) func `a backup from before a rotation needs the old master key, and the refusal names it`()
        throws
    {
        try installation.start()
        _ = try KeyPopulation(10, certified: 0, by: installation.adminSocket)
        let (backup, saved) = (installation.path("old.backup"), installation.path("saved.key"))
        #expect(try installation.ctl("backup", "create", backup).status == 0)
        try FileManager.default.copyItem(atPath: installation.path("state/master.key"), toPath: saved)
        let old = try status().masterKey
        #expect(try installation.ctl("master-key", "rotate", "--yes").status == 0)
        let new = try status().masterKey
        let refused = try installation.ctl("backup", "verify", backup)
        #expect(refused.status == 1 && refused.error.contains(old) && refused.error.contains(new), "\(refused.error)")
        #expect(try installation.ctlJSON("master-key", "identify", saved)["masterKeyIdentifier"] as? String == old)
        let verified = try installation.ctl("backup", "verify", "--offline", backup, "--master-key-file", saved)
        #expect(verified.status == 0, "\(verified.error)")
        installation.stop()
        let state = installation.path("state")
        let restored = try installation.ctl(
            "backup", "restore", backup, "--replace", "--master-key-file", saved, "--state-directory", state)
        #expect(restored.status == 0, "\(restored.error)")
        let started = try installation.failedStart("--state-directory", state)
        #expect(started.status == 1 && started.startFinding == "masterKeyRejected", "\(started.error)")
        #expect(started.error.contains(old) && started.error.contains(new), "\(started.error)")
        // With the old key as the previous key the daemon starts, and a rotation replaces the old key with the new one.
        let config = try installation.write(
            "master-key:\n  file: \(state)/master.key\n  previous:\n    file: \(saved)\n", "with-previous.yaml")
        try installation.start(config: config)
        try installation.eventually("status asks for a rotation") {
            try installation.details(of: "masterKeyRotation").contains("master-key rotate")
        }
        #expect(try installation.ctl("master-key", "rotate", "--yes").status == 0)
        #expect(try status().masterKey == new)
        installation.stop()
        try installation.start()
    }
}
