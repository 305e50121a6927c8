import Foundation
import MerchantTestSupport
import Testing

/// The master key and the data key are replaced while the daemon serves, however often it is killed.
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

    @Test(.tags(.slow), .skippedInQuickRuns)
    func `a rotation killed at random always finishes, and every key is readable all the while`() throws {
        try installation.start()
        let population = try KeyPopulation(
            Self.keys, certified: min(500, Self.keys / 4), by: installation.adminSocket)
        let expected = try population.symmetricKeys(by: installation.decryptorSocket)
        #expect(expected.values.allSatisfy { $0.count == 44 })
        let first = try status().masterKey
        let refused = Guarded<[String]>([])
        let answered = Guarded(0)
        var (cutShort, round) = (0, 0)
        // Where a kill falls is luck; that some fall into a rotation is not left to it.
        while round < Self.kills || cutShort == 0 && round < 20 * Self.kills {
            round += 1
            let sockets = (installation.adminSocket, installation.decryptorSocket)
            let (ordered, _) = try LoadClient(sockets.0).object("POST", "/v1/master-key/rotation", Array("{}".utf8))
            #expect(ordered == 202)
            let payments = Running {
                guard let client = try? LoadClient(sockets.1) else { return }
                for hash in (0...).lazy.map({ _ in population.certified.randomElement() ?? "" }) {
                    guard let key = try? KeyPopulation.symmetricKey(of: hash, client) else { return }
                    answered.update { $0 += 1 }
                    if key != expected[hash] { refused.update { $0.append("\(hash): \(key)") } }
                }
            }
            let onboarding = Running { [round] in
                guard let client = try? LoadClient(sockets.0) else { return }
                let merchant = "merchant.com.meanwhile.r\(round)"
                let body = Array(#"{"merchantIdentifier": "\#(merchant)"}"#.utf8)
                guard (try? client.object("POST", "/v1/merchants", body)) != nil else { return }
                for _ in 0..<60 {
                    guard let (status, answer) = try? client.object("POST", "/v1/merchants/\(merchant)/keys")
                    else { return }
                    if status != 201 { refused.update { $0.append("a new key: \(status) \(answer)") } }
                }
            }
            // Somewhere in the middle of it: there is no clock of ours to move.
            Thread.sleep(forTimeInterval: Double.random(in: 0...(Double(Self.keys) / 10_000)))
            installation.stop(SIGKILL)
            for thread in [payments, onboarding] { thread.join() }
            try installation.start()
            if installation.log.contains("resuming an interrupted rotation") { cutShort += 1 }
        }
        #expect(try installation.ctl("master-key", "rotate", "--yes").status == 0)
        #expect(refused.value.isEmpty, "\(refused.value.prefix(5))")
        #expect(cutShort > 0 && answered.value > Self.kills, "\(cutShort) of \(round), \(answered.value)")

        // One more, left alone, for the time it takes.
        let begin = ContinuousClock.now
        let last = try installation.ctl("master-key", "rotate", "--yes")
        let took = ContinuousClock.now - begin
        #expect(last.status == 0, "\(last.error)")
        let end = try status()
        #expect(end.state == "finished" && end.total >= Self.keys && end.done == end.total, "\(end)")
        #expect(end.masterKey != first)
        #expect(try masterKeyFiles() == ["master.key"])
        #expect(try population.symmetricKeys(by: installation.decryptorSocket) == expected)
        // Every key pair is opened, those made meanwhile too, and the audit is whole.
        let verification = try installation.ctl("backup", "create", installation.path("after.backup"))
        #expect(verification.status == 0, "\(verification.output) \(verification.error)")
        print(
            "rotation test: \(end.total) private keys in \(took), \(round) kills (\(cutShort) in the middle), \(answered.value) payments answered meanwhile"
        )
    }

    @Test func `only one data key is left, and the audit tells of begin and end`() throws {
        try installation.start()
        _ = try KeyPopulation(100, certified: 0, by: installation.adminSocket)
        let before = try status().masterKey
        #expect(try installation.ctl("master-key", "rotate", "--yes", "--data-key-only").status == 0)
        #expect(try status().masterKey == before)
        let rotated = try installation.ctl("master-key", "rotate", "--yes")
        #expect(rotated.status == 0 && rotated.error.contains("save the new master key"), "\(rotated.error)")
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

    @Test func `what a killed rotation left of a key's making goes with the next, and takes no key along`() throws {
        try installation.start()
        let (key, left) = (installation.path("state/master.key"), installation.path("state/.master.key.next.new"))
        let old = try Data(contentsOf: URL(filePath: key))
        // Killed between its two names: the second is the key's own.
        #expect(link(key, left) == 0)
        #expect(try installation.ctl("backup", "create", installation.path("before.backup")).status == 0)
        #expect(try installation.ctl("master-key", "rotate", "--yes").status == 0)
        #expect(!FileManager.default.fileExists(atPath: left))
        #expect(try Data(contentsOf: URL(filePath: key)) != old)
        try installation.restart()
        // The backup is the old key's, which is said as that: nothing of this database is wrong.
        let verdict = try installation.ctl("backup", "verify", installation.path("before.backup"))
        #expect(verdict.status == 1 && verdict.refusalCode == "backupFailed", "\(verdict.error)")
        #expect(verdict.error.contains("--offline --master-key-file"), "\(verdict.error)")
        #expect(try installation.ctl("audit", "verify", "--head", "x").status == 2)
    }

    @Test func `without yes nothing is done, and a dry run says what would be`() throws {
        try installation.start()
        let refused = try installation.ctl("master-key", "rotate")
        #expect(refused.status == 1 && refused.error.contains("--yes"), "\(refused.error)")
        let plan = try installation.ctl("master-key", "rotate", "--dry-run")
        #expect(plan.status == 0 && plan.output.contains("create a new master key in"), "\(plan.output)")
        #expect(try status().state == "none" && masterKeyFiles() == ["master.key"])
    }

    @Test func `a fresh key that was never used is no obstacle, and the next rotation makes another`() throws {
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

    @Test func `a backup made before needs the old master key, and says which`() throws {
        try installation.start()
        _ = try KeyPopulation(10, certified: 0, by: installation.adminSocket)
        let (backup, saved) = (installation.path("old.backup"), installation.path("saved.key"))
        #expect(try installation.ctl("backup", "create", backup).status == 0)
        try FileManager.default.copyItem(atPath: installation.path("state/master.key"), toPath: saved)
        let old = try status().masterKey
        #expect(try installation.ctl("master-key", "rotate", "--yes").status == 0)
        let new = try status().masterKey
        let refused = try installation.ctl("backup", "verify", backup)
        #expect(refused.status == 1 && refused.error.contains("sealed by master key \(old), found \(new)"))
        #expect(try installation.ctl("master-key", "identify", saved).output.contains(old))
        let verified = try installation.ctl("backup", "verify", "--offline", backup, "--master-key-file", saved)
        #expect(verified.status == 0, "\(verified.error)")
        installation.stop()
        let state = installation.path("state")
        let restored = try installation.ctl(
            "backup", "restore", backup, "--replace", "--master-key-file", saved, "--state-directory", state)
        #expect(restored.status == 0, "\(restored.error)")
        let started = try installation.failedStart("--state-directory", state)
        #expect(started.status == 1 && started.error.contains("sealed by master key \(old), found \(new)"))
        // With the old key named as the previous one it starts, and a rotation brings it to the new one.
        let config = try installation.write(
            "master-key:\n  file: \(state)/master.key\n  previous:\n    file: \(saved)\n", "with-previous.yaml")
        try installation.start(config: config)
        try installation.eventually("status says what is to be done") {
            let findings = try installation.ctlJSON("status")["findings"] as? [[String: Any]] ?? []
            return findings.contains {
                $0["code"] as? String == "masterKeyRotation"
                    && ($0["detail"] as? String)?.contains("run 'merchantkeyctl master-key rotate'") == true
            }
        }
        #expect(try installation.ctl("master-key", "rotate", "--yes").status == 0)
        #expect(try status().masterKey == new)
        installation.stop()
        try installation.start()
    }
}

/// Master keys that the daemon reads and cannot write.
@Suite struct MasterKeySourceTests {
    let installation: Installation

    init() throws { installation = try Installation() }

    private func key(_ name: String) throws -> String {
        let made = try Installation.run([
            "sh", "-c", "umask 077; head -c 32 /dev/urandom > \(installation.path(name))",
        ])
        try #require(made.status == 0, "\(made.error)")
        return installation.path(name)
    }

    private func identifier(_ file: String) throws -> String {
        try installation.ctlJSON("master-key", "identify", file)["masterKeyIdentifier"] as? String ?? ""
    }

    @Test func `a command's key is rotated by the one that takes its place`() throws {
        let (old, new) = (try key("old.key"), try key("new.key"))
        let first = try installation.write("master-key:\n  source: command\n  command: [/bin/cat, \(old)]\n", "1.yaml")
        try installation.start(config: first)
        _ = try KeyPopulation(20, certified: 5, by: installation.adminSocket)
        let refused = try installation.ctl("master-key", "rotate", "--yes")
        #expect(refused.status == 1 && refused.refusalCode == "masterKeyConflict", "\(refused.error)")
        #expect(try installation.ctl("master-key", "rotate", "--yes", "--data-key-only").status == 0)
        installation.stop()

        let without = try installation.write(
            "master-key:\n  source: command\n  command: [/bin/cat, \(new)]\n", "2.yaml")
        let wrong = try installation.failedStart("--config", without, "--state-directory", installation.path("state"))
        let (oldKey, newKey) = (try identifier(old), try identifier(new))
        #expect(wrong.error.contains("sealed by master key \(oldKey), found \(newKey)"), "\(wrong.error)")

        let both = try installation.write(
            """
            master-key:
              source: command
              command: [/bin/cat, \(new)]
              previous:
                source: command
                command: [/bin/cat, \(old)]
            """, "3.yaml")
        try installation.start(config: both)
        #expect(try installation.check().status == 1)
        let half = try installation.ctl("master-key", "rotate", "--yes", "--data-key-only")
        #expect(half.status == 1 && half.refusalCode == "masterKeyConflict", "\(half.error)")
        let rotated = try installation.ctl("master-key", "rotate", "--yes")
        #expect(rotated.status == 0 && rotated.output.contains(newKey), "\(rotated.error)")
        #expect(FileManager.default.fileExists(atPath: old))
        installation.stop()
        try installation.start(config: without)
        #expect(try installation.ctl("backup", "create", installation.path("b")).status == 0)
    }

    @Test func `a key that the operator put into the file stays, and so does the old one beside it`() throws {
        try installation.start()
        _ = try KeyPopulation(20, certified: 5, by: installation.adminSocket)
        installation.stop()
        let (file, new) = (installation.path("state/master.key"), try key("new.key"))
        // As a rotation leaves it that was cut short before it began.
        let leftover = try identifier(try key("state/master.key.next"))
        try FileManager.default.moveItem(atPath: file, toPath: file + ".old")
        try FileManager.default.copyItem(atPath: new, toPath: file)
        let old = try identifier(file + ".old")
        let config = try installation.write(
            "master-key:\n  previous:\n    source: file\n    file: \(file).old\n", "previous.yaml")
        try installation.start(config: config)
        let rotated = try installation.ctl("master-key", "rotate", "--yes")
        #expect(rotated.status == 0, "\(rotated.error)")
        #expect(try identifier(file) == identifier(new))
        #expect(try identifier(file + ".old") == old)
        #expect(try identifier(file + ".next") == leftover)
        installation.stop()
        try installation.start()
        #expect(try installation.ctl("backup", "create", installation.path("b")).status == 0)
    }

    @Test func `a systemd credential is read where systemd put it`() throws {
        let config = try installation.write(
            "master-key:\n  source: systemd-credential\n  credential: mk\n", "credential.yaml")
        let state = installation.path("state")
        let without = try installation.failedStart("--config", config, "--state-directory", state)
        #expect(without.error.contains("CREDENTIALS_DIRECTORY is not set"), "\(without.error)")
        try FileManager.default.moveItem(atPath: try key("mk-made"), toPath: installation.path("mk"))
        #expect(chmod(installation.path("mk"), 0o440) == 0)
        try installation.start(config: config, environment: ["CREDENTIALS_DIRECTORY": installation.directory])
        let refused = try installation.ctl("master-key", "rotate", "--yes")
        #expect(refused.refusalCode == "masterKeyConflict", "\(refused.error)")
    }

    @Test(arguments: [
        ("source: vault", "expected one of file, systemd-credential, command"),
        ("source: command", "expected a list of a program's absolute path and its arguments"),
        ("source: command\n  command: [cat, x]", "expected a list of a program's absolute path"),
        ("source: command\n  command: [/bin/cat]\n  timeout: 1d", "from 1s to 300s"),
        ("credential: x", "expected 'master-key.source: systemd-credential' with it"),
        ("source: systemd-credential\n  credential: a/b", "expected a name without '/'"),
        ("previous:\n    timeout: 3s", "expected 'master-key.previous.source: command' with it"),
    ])
    func `a setting that does not fit is refused`(setting: String, expected: String) throws {
        let config = try installation.write("master-key:\n  \(setting)\n", "bad.yaml")
        let refused = try installation.failedStart("--config", config, "--state-directory", installation.path("state"))
        #expect(refused.status == 1 && refused.error.contains(expected), "\(refused.error)")
    }
}
