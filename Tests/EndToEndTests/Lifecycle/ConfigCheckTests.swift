import Foundation
import MerchantTestSupport
import Testing

/// `merchantkeyctl config check` and the environment variables of the daemon.
@Suite struct ConfigCheckTests {
    let installation: Installation

    init() throws { installation = try Installation() }

    private func check(
        _ yaml: String, _ arguments: String..., environment: [String: String] = [:]
    ) throws -> Installation.Outcome {
        let outcome = try ChildProcess.run(
            [
                "\(Installation.programs)/merchantkeyctl", "config", "check", "--config",
                try installation.write(yaml, "check.yaml"), "--state-directory", installation.stateDirectory,
            ] + arguments, environment: ChildProcess.inheritedEnvironment.merging(environment) { $1 })
        return Installation.Outcome(
            status: outcome.status, bytes: Data(outcome.outputBytes), error: outcome.error)
    }

    @Test func `every setting in force is printed as it is written, as a table and as JSON`() throws {
        let yaml = "environment: sandbox\nbackup:\n  directory: \(installation.directory)\n  every: 12h\n"
        let table = try check(yaml)
        #expect(table.status == 0, "\(table.error)")
        let lines = table.output.split(separator: "\n")
        for (name, value) in [
            ("backup.every", "12h  (file)"), ("backup.keep", "30  (default)"), ("audit.head.every", "60s  (default)"),
            ("sockets.admin.path", "\(installation.adminSocket)  (default)"), ("roll.renew-before", "60d  (default)"),
        ] {
            #expect(lines.contains { $0.hasPrefix("\(name) ") && $0.hasSuffix("  \(value)") }, "\(table.output)")
        }
        let document = try check(yaml, "--output", "json", environment: ["MERCHANTKEYD_BACKUP_KEEP": "7"]).json()
        let settings = try #require(document["settings"] as? [String: [String: String]])
        #expect(settings["backup.every"] == ["value": "12h", "origin": "file"])
        #expect(settings["backup.keep"] == ["value": "7", "origin": "environment"])
        #expect(settings["log.level"] == ["value": "info", "origin": "default"])
        #expect(settings["state-directory"] == ["value": installation.stateDirectory, "origin": "commandLine"])
        #expect(document["problems"] as? [String] == [] && document["warnings"] as? [String] == [])
    }

    @Test func `without a previous master key, its settings are printed without values`() throws {
        let document = try check("environment: sandbox\n", "--output", "json").json()
        let settings = try #require(document["settings"] as? [String: [String: String]])
        for field in ["source", "file", "credential", "command", "timeout"] {
            #expect(settings["master-key.previous.\(field)"] == ["value": "-", "origin": "default"], "\(field)")
        }
        #expect(settings["master-key.source"] == ["value": "file", "origin": "default"])
    }

    @Test(.onlyOnSQLite) func `config check warns about a missing backup directory, which does not prevent the start`()
        throws
    {
        let yaml = "environment: sandbox\nbackup:\n  directory: \(installation.path("nowhere"))\n"
        let checked = try check(yaml, "--output", "json")
        #expect(checked.status == 4, "\(checked.error)")
        #expect((try checked.json()["warnings"] as? [String])?.count == 1)
        try installation.start(config: installation.write(yaml, "start.yaml"))
        #expect(installation.log.contains("'backup.directory'"))
    }

    @Test func `config check runs the command of a master key only on request`() throws {
        let script = try installation.write("#!/bin/sh\ntouch \(installation.path("ran"))\nexit 1\n", "key.sh")
        #expect(chmod(script, 0o700) == 0)
        let yaml = "environment: sandbox\nmaster-key:\n  source: command\n  command: [\(script)]\n"
        let notRun = try check(yaml)
        #expect(notRun.status == 4 && notRun.output.contains("not run"), "\(notRun.output)")
        #expect(!FileManager.default.fileExists(atPath: installation.path("ran")))
        let run = try check(yaml, "--run-commands")
        #expect(run.status == 1 && run.error.contains("master-key.command"), "\(run.error)")
        #expect(FileManager.default.fileExists(atPath: installation.path("ran")))
    }

    @Test func `config check says whether the issuers include Apple's issuing CA`() throws {
        try installation.apple("init")
        let issuers = "trust:\n  certificate-issuers: [\(installation.path("apple/processing-issuer.pem"))]\n"
        func line(_ yaml: String) throws -> Substring? {
            try check(yaml).output.split(separator: "\n").first { $0.hasPrefix("issuers of certificates ") }
        }
        #expect(try line("environment: sandbox\n")?.contains("not checked") == true)
        #expect(try line("environment: sandbox\n\(issuers)")?.contains("do not include") == true)
    }

    @Test(arguments: ["MERCHANTKEYD_CALLERS", "MERCHANTKEYD_LOG_LEVL"])
    func `a start and config check refuse an environment variable that is not a setting`(name: String) throws {
        let checked = try check("environment: sandbox\n", environment: [name: "x"])
        #expect(checked.status == 1 && checked.error.contains(name), "\(checked.error)")
        let started = try ChildProcess.run(
            [
                "timeout", "--signal=KILL", "60", "\(Installation.programs)/merchantkeyd", "--state-directory",
                installation.stateDirectory,
            ], environment: ChildProcess.inheritedEnvironment.merging([name: "x"]) { $1 })
        #expect(started.status == 1 && started.error.contains(name), "\(started.error)")
        #expect(!FileManager.default.fileExists(atPath: installation.stateDirectory))
    }

    @Test func `with callers set, the daemon does not refuse its own connections`() throws {
        let config = try installation.write(
            "environment: sandbox\ncallers:\n  - uid: 4294967294\n    permits: [read]\n", "callers.yaml")
        for _ in 0..<5 {
            try installation.start(config: config, answering: ["200", "403"])
            #expect(!installation.log.contains("connections refused"), "\(installation.log)")
            #expect(!installation.log.contains("connections already"), "\(installation.log)")
            installation.stop()
        }
    }
}
