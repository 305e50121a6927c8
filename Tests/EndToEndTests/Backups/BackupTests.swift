import Foundation
import MerchantTestSupport
import SandboxKit
import Testing
import Vocabulary

/// Backups of a daemon under load, and disaster recovery.
@Suite(.onlyOnSQLite) struct BackupTests {
    let installation: Installation

    init() throws { installation = try Installation() }

    /// Runs `backup restore`, which needs no daemon.
    private func restore(_ file: String, to directory: String, _ arguments: String...) throws -> Installation.Outcome {
        try Installation.run(
            ["\(Installation.programs)/merchantkeyctl", "backup", "restore", file, "--state-directory", directory]
                + arguments)
    }

    private func bytes(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: installation.path(name))) }

    @Test(.tags(.slow), .skippedInQuickRuns)
    func `backups created during changes pass verification, and a daemon serves from each restored one`() throws {
        try installation.start()
        let authority = try SandboxAuthority(createdAt: Timestamp(Date()))
        let workers = (0..<3).map {
            OnboardingWorker(socket: installation.adminSocket, prefix: "merchant.com.b\($0)", authority: authority)
        }
        let threads = workers.map { worker in BackgroundThread { worker.work() } }
        var heads: Set<String> = []
        for number in 0..<12 {
            let created = try Installation.run([
                "\(Installation.programs)/merchantkeyctl", "--socket", installation.adminSocket, "--output", "json",
                "backup", "create", installation.path("b\(number)"),
            ])
            #expect(created.status == 0, "\(created.output) \(created.error)")
            let backup = try #require(try created.json()["backup"] as? [String: Any])
            heads.insert(try #require(backup["auditHead"] as? String))
        }
        installation.stop(SIGKILL)
        for thread in threads { thread.join() }
        #expect(heads.count == 12, "expected 12 backups with different audit heads, found \(heads)")

        let key = try bytes("state/master.key")
        for number in 0..<12 {
            let other = try Installation()
            try other.createStateDirectory()
            #expect(
                FileManager.default.createFile(
                    atPath: other.path("state/master.key"), contents: key, attributes: [.posixPermissions: 0o600]))
            let restored = try restore(installation.path("b\(number)"), to: other.path("state"))
            #expect(restored.status == 0, "\(restored.output) \(restored.error)")
            try other.start()
            #expect(try other.ctl("audit", "verify").status == 0)
            #expect(try other.auditRecords("databaseRestored").count == 1)
            let page = try LoadClient(other.adminSocket).object("GET", "/v1/merchants/merchant.com.b0.m0/keys").1
            let active = (page["items"] as? [[String: Any]] ?? []).first { $0["state"] as? String == "current" }
            if number > 0 {
                let hash = try #require(active?["publicKeyHash"] as? String)
                #expect(try other.uses(hash) == ["200", "200"])
            }
            other.stop()
        }
    }

    @Test
    func `a restore is refused and changes nothing with a wrong master key, a damaged backup or a running daemon`()
        throws
    {
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.kept").status == 0)
        #expect(try installation.ctl("key", "generate", "merchant.com.kept").status == 0)
        let backup = installation.path("b")
        #expect(try installation.ctl("backup", "create", backup).status == 0)
        let state = installation.path("state")
        let holder = try #require(installation.process)
        let inUse = try restore(backup, to: state, "--replace")
        #expect(inUse.status == 1 && inUse.error.contains("process \(holder) "), "\(inUse.error)")
        installation.stop()
        let database = try bytes("state/merchantkeyd.sqlite")
        let names = Set(try FileManager.default.contentsOfDirectory(atPath: state))

        let wrong = installation.path("wrong.key")
        #expect(
            FileManager.default.createFile(
                atPath: wrong, contents: Data(repeating: 7, count: 32), attributes: [.posixPermissions: 0o600]))
        var damaged = try bytes("b")
        damaged[damaged.count / 2] ^= 1
        try damaged.write(to: URL(filePath: installation.path("damaged")))
        let wrongKey = try installation.ctlJSON("master-key", "identify", wrong)["masterKeyIdentifier"] as? String
        for (outcome, named) in [
            (try restore(backup, to: state), "--replace"),
            (try restore(backup, to: state, "--replace", "--master-key-file", wrong), try #require(wrongKey)),
            (try restore(installation.path("damaged"), to: state, "--replace"), installation.path("damaged")),
            (try restore(installation.path("nowhere"), to: state, "--replace"), installation.path("nowhere")),
        ] {
            #expect(outcome.status == 1 && outcome.error.contains(named), "\(outcome.error)")
            #expect(try bytes("state/merchantkeyd.sqlite") == database)
            #expect(Set(try FileManager.default.contentsOfDirectory(atPath: state)) == names)
        }
        let offline = try Installation.run([
            "\(Installation.programs)/merchantkeyctl", "--output", "json", "backup", "verify", backup, "--offline",
            "--state-directory", state,
        ])
        #expect(try offline.status == 0 && offline.json()["keyPairsVerified"] as? Int == 1, "\(offline.output)")
        #expect(try bytes("b").count > 0)
        let table = try Installation.run([
            "\(Installation.programs)/merchantkeyctl", "backup", "verify", backup, "--offline", "--state-directory",
            state,
        ])
        #expect(table.output.contains("duration (seconds)"), "\(table.output)")

        let done = try restore(backup, to: state, "--replace", "--output", "json")
        #expect(done.status == 0, "\(done.error)")
        #expect(try done.text("aside").hasPrefix("\(state)/replaced-"))
        try installation.start()
        #expect(try installation.ctl("merchant", "show", "merchant.com.kept").status == 0)
        #expect(try installation.findings().contains("databaseRestored"))
    }

    @Test func `a restore is in the audit once, although the file for the audit head could not be written`() throws {
        let heads = installation.path("missing/heads")
        let config = try installation.write("audit:\n  head:\n    file: \(heads)\n", "c.yaml")
        try installation.start(config: config)
        let backup = installation.path("b")
        #expect(try installation.ctl("backup", "create", backup).status == 0)
        installation.stop()
        #expect(try restore(backup, to: installation.path("state"), "--replace").status == 0)
        for _ in 0..<2 {
            try installation.start(config: config)
            #expect(try installation.findings().contains("databaseRestored"))
            #expect(try installation.auditRecords("databaseRestored").count == 1)
            installation.stop()
        }
        // The daemon completes the record of the restore while it runs, as soon as the file can be written.
        try installation.start(config: config)
        try FileManager.default.createDirectory(
            atPath: installation.path("missing"), withIntermediateDirectories: false)
        try installation.eventually("the description of the restore is removed") {
            try installation.sql("SELECT value FROM daemon_values WHERE name = 'restoredFrom'").isEmpty
        }
        #expect(FileManager.default.fileExists(atPath: heads))
        installation.stop()
        try installation.start(config: config)
        #expect(try installation.auditRecords("databaseRestored").count == 1)
    }

    @Test(.tags(.slow), .skippedInQuickRuns)
    func `a restore that is killed leaves the old or the new database, or a start that requires another restore`()
        throws
    {
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.both").status == 0)
        let backup = installation.path("b")
        #expect(try installation.ctl("backup", "create", backup).status == 0)
        #expect(try installation.ctl("merchant", "add", "merchant.com.old").status == 0)
        installation.stop()
        var interrupted = 0
        for round in 0..<25 {
            let process = try ChildProcess([
                "\(Installation.programs)/merchantkeyd", "backup-restore", backup, "--replace", "--state-directory",
                installation.path("state"),
            ])
            if round.isMultiple(of: 2) {
                // Waits until the restore begins to move files. A random time would rarely hit this short phase.
                let marker = installation.path("state/restore-under-way")
                while process.isRunning, !FileManager.default.fileExists(atPath: marker) {}
            } else {
                Installation.waitRandomly(upTo: 0.12)
            }
            process.killAndWait()
            if FileManager.default.fileExists(atPath: installation.path("state/restore-under-way")) {
                interrupted += 1
                try installation.expectRefusedStart("restoreUnfinished")
                let again = try restore(backup, to: installation.path("state"))
                #expect(again.status == 0, "\(again.error)")
            }
            try installation.start()
            #expect(try installation.ctl("merchant", "show", "merchant.com.both").status == 0, "round \(round)")
            #expect(try installation.ctl("audit", "verify").status == 0, "round \(round)")
            installation.stop()
        }
        print("restores killed: 25, \(interrupted) of them while files were moved")
    }

    @Test func `backups follow the schedule, the oldest are deleted, and a missing directory is reported`() throws {
        let (directory, config) = try schedule(keep: 2)
        try installation.start(config: config)
        var seen: Set<String> = []
        try installation.eventually("four backups") {
            let names = try FileManager.default.contentsOfDirectory(atPath: directory).filter {
                $0.hasSuffix(".backup")
            }
            #expect(names.count <= 3)
            seen.formUnion(names)
            return seen.count >= 4
        }
        let backups = try #require(try installation.ctlJSON("status")["backups"] as? [String: Any])
        #expect(backups["lastVerified"] != nil && backups["merchantsWithoutBackup"] as? Int == 0)
        #expect(try installation.checkStatus() == 0)
        // Renamed instead of removed, because a backup may be creating a file in it.
        try FileManager.default.moveItem(atPath: directory, toPath: installation.path("moved"))
        try installation.eventually("the failure is reported") { try installation.findings().contains("backupFailed") }
        try installation.eventually("the overdue backup is critical") { try installation.checkStatus() == 2 }
        // A warning comes first, unless a slow machine needs more than two intervals for one backup. The backup fails
        // repeatedly, but raises one event for each severity.
        let failure = try installation.details(of: "backupFailed")
        try installation.eventually("the backup fails again") {
            try installation.details(of: "backupFailed") != failure
        }
        let events = try Installation.items(installation.ctlJSON("event", "list", "--kind", "backupOverdue")["items"])
        let severities = events.compactMap { $0["severity"] as? String }
        #expect(severities.filter { $0 == "critical" }.count == 1 && severities.count == Set(severities).count)
    }

    /// Creates a directory for backups, and writes settings for a backup each second.
    private func schedule(keep: Int) throws -> (directory: String, config: String) {
        let directory = installation.path("backups")
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        return (
            directory,
            try installation.write("backup:\n  directory: \(directory)\n  every: 1s\n  keep: \(keep)\n", "b.yaml")
        )
    }

    private func scheduled(_ directory: String) throws -> Set<String> {
        Set(
            try FileManager.default.contentsOfDirectory(atPath: directory).filter {
                $0.hasPrefix("merchantkeyd-") && $0.hasSuffix(".backup")
            })
    }

    @Test func `a backup with a future time in its name is neither counted nor deleted, and the newest backup is kept`()
        throws
    {
        let (directory, config) = try schedule(keep: 1)
        let later = "merchantkeyd-20990101T000000Z.backup"
        _ = try installation.write("", "backups/\(later)")
        try installation.start(config: config)
        var seen: Set<String> = []
        try installation.eventually("three scheduled backups") {
            let names = try scheduled(directory)
            #expect(names.contains(later))
            seen.formUnion(names)
            return seen.count >= 4
        }
        installation.stop()
        #expect(try scheduled(directory).subtracting([later]).count >= 1)
    }

    @Test func `backups that fail verification neither accumulate nor replace good ones`() throws {
        let (directory, config) = try schedule(keep: 2)
        try installation.start(config: config)
        #expect(try installation.ctl("merchant", "add", "merchant.com.example.two").status == 0)
        for _ in 0..<2 { #expect(try installation.ctl("key", "generate", "merchant.com.example.two").status == 0) }
        try installation.eventually("two good backups") { try scheduled(directory).count == 2 }
        installation.stop()
        let good = try scheduled(directory)
        _ = try installation.sql(
            """
            UPDATE sealed_private_keys SET sealed_bytes =
                (SELECT sealed_bytes FROM sealed_private_keys ORDER BY id DESC LIMIT 1)
                WHERE id = (SELECT min(id) FROM sealed_private_keys)
            """)
        try installation.start(config: config)
        var versions: Set<Date> = []
        try installation.eventually("three backups that fail verification") {
            let path = "\(directory)/scheduled.not-good"
            if let changed = try? FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date {
                versions.insert(changed)
            }
            return versions.count >= 3
        }
        #expect(try installation.findings().contains("backupFailed"))
        let manual = installation.path("manual.backup")
        // While a scheduled backup is in progress, the daemon refuses another one with `overloaded`.
        try installation.eventually("a backup by hand fails its verification") {
            let created = try installation.ctl("backup", "create", manual)
            #expect(created.status != 0)
            if created.refusalCode != "overloaded" {
                #expect(created.error.contains("renamed the file \(manual)"), "\(created.error)")
            }
            return created.refusalCode != "overloaded"
        }
        #expect(!FileManager.default.fileExists(atPath: manual))
        #expect(FileManager.default.fileExists(atPath: manual + ".not-good"))
        installation.stop()
        #expect(try installation.sql("SELECT path FROM backups WHERE path LIKE '\(manual)%'") == "\(manual).not-good")
        #expect(try scheduled(directory) == good)
    }

    @Test func `incomplete files of a killed backup or restore are removed at the next start`() throws {
        try installation.start()
        installation.stop()
        let draft = try installation.write("half", "b.backup.17-4711.new")
        // SQLite would apply the journal to the next file of this name.
        let restoring = try ["merchantkeyd.sqlite.restoring", "merchantkeyd.sqlite.restoring-journal"].map {
            try installation.write("half", "state/\($0)")
        }
        _ = try installation.sql("INSERT OR REPLACE INTO daemon_values VALUES ('backupDraft', '\(draft)')")
        try installation.start()
        for name in restoring { #expect(!FileManager.default.fileExists(atPath: name), "\(name)") }
        // The start does not wait for the removal, because the disk with the backups may hang.
        try installation.eventually("the draft is removed") { !FileManager.default.fileExists(atPath: draft) }
        #expect(try installation.ctl("backup", "create", installation.path("complete.backup")).status == 0)
        installation.stop()
        #expect(try installation.sql("SELECT value FROM daemon_values WHERE name = 'backupDraft'").isEmpty)
    }
}
