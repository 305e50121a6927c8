import Foundation
import Glibc
import MerchantTestSupport
import Testing

/// What `config check` and a start report about the database, its master key, the claims, sockets and ports.
@Suite(.onlyOnSQLite) struct CheckedStartTests {
    let installation: Installation

    init() throws { installation = try Installation() }

    private func check(_ config: String, _ arguments: String...) throws -> Installation.Outcome {
        try Installation.run(
            [
                "\(Installation.programs)/merchantkeyctl", "config", "check", "--config", config, "--state-directory",
                installation.stateDirectory,
            ] + arguments)
    }

    /// Expects that `config check` and a start refuse the settings, both with these words.
    private func expectRefusal(
        _ config: String, naming words: String, _ arguments: [String] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let checked = try Installation.run(
            [
                "\(Installation.programs)/merchantkeyctl", "config", "check", "--config", config, "--state-directory",
                installation.stateDirectory,
            ] + arguments)
        #expect(checked.status == 1, "\(checked.output)", sourceLocation: sourceLocation)
        #expect(checked.error.contains(words), "\(checked.error)", sourceLocation: sourceLocation)
        let started = try installation.failedStart([
            "--config", config, "--state-directory", installation.stateDirectory,
        ])
        #expect(started.status == 1, "\(started.error)", sourceLocation: sourceLocation)
        #expect(started.error.contains(words), "\(started.error)", sourceLocation: sourceLocation)
    }

    /// A file with a master key other than the one in the state directory.
    private func otherKey() throws -> String {
        let key = installation.path("other.key")
        try #require(try Installation.run(["openssl", "rand", "-out", key, "32"]).status == 0)
        #expect(chmod(key, 0o600) == 0)
        return key
    }

    @Test func `a master key that does not fit the database is refused`() throws {
        let sandbox = try installation.write("environment: sandbox\n", "sandbox.yaml")
        let before = try check(sandbox)
        #expect(before.status == 0, "\(before.error)")
        try installation.start(config: sandbox)
        let running = try check(sandbox, "--output", "json")
        #expect(running.status == 0, "\(running.error)")
        #expect(try running.text("database").contains(installation.database))
        installation.stop()
        #expect(try check(sandbox).status == 0)

        let key = try otherKey()
        let file = try installation.write(
            "environment: sandbox\nmaster-key:\n  file: \(key)\n", "other.yaml")
        try expectRefusal(file, naming: "[masterKeyRejected]")
        let document = try check(file, "--output", "json").json()
        #expect((document["problems"] as? [String])?.count == 1, "\(document)")

        let script = try installation.write("#!/bin/sh\ncat \(key)\n", "key.sh")
        #expect(chmod(script, 0o700) == 0)
        let command = try installation.write(
            "environment: sandbox\nmaster-key:\n  source: command\n  command: [\(script)]\n", "command.yaml")
        // The check has not run the command.
        #expect(try check(command).status == 4)
        try expectRefusal(command, naming: "[masterKeyRejected]", ["--run-commands"])

        // If the key of the database is set as the previous key, the other key is accepted, because a rotation can then
        // replace the key of the database.
        let previous = try installation.write(
            """
            environment: sandbox
            master-key:
              file: \(key)
              previous:
                file: \(installation.path("state/master.key"))

            """, "previous.yaml")
        #expect(try check(previous).status == 0)
    }

    @Test func `after a kill, a missing database, an older copy and a file of another program are refused`() throws {
        let sandbox = try installation.write("environment: sandbox\n", "sandbox.yaml")
        try installation.start(config: sandbox)
        let copy = installation.path("copy.sqlite")
        #expect(try installation.ctl("merchant", "add", "merchant.com.example.one").status == 0)
        installation.stop()
        try FileManager.default.copyItem(atPath: installation.database, toPath: copy)
        try installation.start(config: sandbox)
        #expect(try installation.ctl("merchant", "add", "merchant.com.example.two").status == 0)
        installation.stop(SIGKILL)
        #expect(try check(sandbox).status == 0)

        func replaceDatabase(_ source: String?) throws {
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: installation.database + suffix)
            }
            if let source { try FileManager.default.copyItem(atPath: source, toPath: installation.database) }
        }
        try replaceDatabase(copy)
        try expectRefusal(sandbox, naming: "[logMissing]")
        try replaceDatabase(nil)
        try expectRefusal(sandbox, naming: "[databaseMissing]")

        let foreign = installation.path("foreign.sqlite")
        _ = try installation.sql("CREATE TABLE x (y); INSERT INTO x VALUES (1)", in: foreign)
        #expect(chmod(foreign, 0o600) == 0)
        try FileManager.default.removeItem(atPath: installation.path("state/merchantkeyd.lock"))
        try replaceDatabase(foreign)
        try expectRefusal(sandbox, naming: installation.database)
        try replaceDatabase(try installation.write(String(repeating: "x", count: 8192), "text"))
        #expect(chmod(installation.database, 0o600) == 0)
        try expectRefusal(sandbox, naming: installation.database)
        #expect(chmod(installation.database, 0o644) == 0)
        try expectRefusal(sandbox, naming: "644")
    }

    @Test func `a port that another program uses is refused, and the port of the running daemon is not`() throws {
        let other = try BoundSocket.loopback()
        let used = try installation.write(
            "environment: sandbox\nmetrics:\n  listen: 127.0.0.1:\(other.port)\n", "used.yaml")
        try expectRefusal(used, naming: "'metrics.listen'")
        let port = other.port
        other.close()
        try installation.start(config: used)
        for host in ["127.0.0.1", "0.0.0.0", "localhost"] {
            let same = try installation.write(
                "environment: sandbox\nmetrics:\n  listen: \(host):\(port)\n", "same.yaml")
            let checked = try check(same)
            #expect(checked.status == 0, "\(host): \(checked.error)")
        }
        // While the daemon runs, a port of another program is refused too.
        let another = try BoundSocket.loopback()
        let changed = try installation.write(
            "environment: sandbox\nmetrics:\n  listen: 127.0.0.1:\(another.port)\n", "changed.yaml")
        let checked = try check(changed)
        #expect(checked.status == 1 && checked.error.contains("'metrics.listen'"), "\(checked.error)")
        installation.stop()
        another.close()
    }

    @Test func `config check does not connect to the sockets, because systemd would then start the daemon`() throws {
        let own = try installation.write("environment: sandbox\n", "own.yaml")
        let listener = try LocalListener(at: installation.path("admin.sock"))
        defer { listener.close() }
        let config = try installation.write(
            "environment: sandbox\nsockets:\n  admin:\n    path: \(installation.path("admin.sock"))\n", "sockets.yaml")
        #expect(try check(config).status == 4)
        #expect(try check(own).status == 0)
        _ = try installation.diagnose("--config", config)
        #expect(!listener.hasConnection)
    }

    @Test func `while the lock file is missing, config check warns about the ports of the running daemon`() throws {
        let free = try BoundSocket.loopback()
        free.close()
        let config = try installation.write(
            "environment: sandbox\nmetrics:\n  listen: 127.0.0.1:\(free.port)\n", "metrics.yaml")
        try installation.start(config: config)
        let lock = installation.path("state/merchantkeyd.lock")
        try FileManager.default.moveItem(atPath: lock, toPath: installation.path("lock"))
        let checked = try check(config)
        #expect(checked.status == 4 && checked.output.contains("'metrics.listen'"), "\(checked.output)")
        #expect(try installation.ctl("reload").status == 0)
        try FileManager.default.moveItem(atPath: installation.path("lock"), toPath: lock)
        #expect(try check(config).status == 0)
    }

    @Test func `a state directory without a database is refused if the file of audit heads holds a head`() throws {
        let config = try installation.write(
            "environment: sandbox\naudit:\n  head:\n    file: \(installation.path("heads"))\n", "heads.yaml")
        try installation.start(config: config)
        installation.stop()
        try FileManager.default.moveItem(atPath: installation.stateDirectory, toPath: installation.path("unmounted"))
        let checked = try check(config)
        #expect(checked.status == 1 && checked.startFinding == "databaseOlderThanShippedHead", "\(checked.error)")
        try installation.expectRefusedStart("databaseOlderThanShippedHead", ["--config", config])
        // The refused start has created no master key and no database.
        let created = try FileManager.default.contentsOfDirectory(atPath: installation.stateDirectory)
        #expect(Set(created).isSubset(of: ["merchantkeyd.lock", "merchantkeyd.reserve"]), "\(created)")
        let diagnosis = try installation.diagnose("--config", config)
        #expect(diagnosis.status == 1 && diagnosis.refusals.contains("databaseOlderThanShippedHead"), "\(diagnosis)")
        // The operator can accept the loss: it is recorded once.
        try installation.start(config: config, ["--accept-older-database"])
        #expect(try installation.auditRecords("olderDatabaseAccepted").count == 1)
        try installation.restart(SIGTERM)
    }

    @Test func `a claims file that the daemon could not use is a warning of config check`() throws {
        let sandbox = try installation.write("environment: sandbox\n", "sandbox.yaml")
        try installation.start(config: sandbox)
        installation.stop()
        let claims = installation.path("state/claims.sqlite")
        let kept = try Data(contentsOf: URL(filePath: claims))
        func expectWarning(_ words: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
            let checked = try check(sandbox)
            #expect(
                checked.status == 4 && checked.output.contains(words), "\(checked.output)",
                sourceLocation: sourceLocation)
            #expect(
                try installation.diagnose().failures.contains("claims content"), sourceLocation: sourceLocation)
        }
        #expect(chmod(claims, 0o644) == 0)
        try expectWarning("644")
        #expect(chmod(claims, 0o600) == 0)
        try Data("no database".utf8).write(to: URL(filePath: claims))
        try expectWarning("not an SQLite database")
        try FileManager.default.removeItem(atPath: claims)
        try FileManager.default.createDirectory(atPath: claims, withIntermediateDirectories: false)
        try expectWarning("not a regular file")
        try FileManager.default.removeItem(atPath: claims)
        try kept.write(to: URL(filePath: claims))
        #expect(chmod(claims, 0o600) == 0)
        #expect(try check(sandbox).status == 0)
    }

    @Test func `a database that another program has locked is refused, and locked claims are a warning`() throws {
        let sandbox = try installation.write("environment: sandbox\n", "sandbox.yaml")
        try installation.start(config: sandbox)
        installation.stop()
        do {
            let locked = try LockedDatabase(installation.database, installation)
            defer { locked.release() }
            try expectRefusal(sandbox, naming: "locked")
            #expect(try installation.diagnose().outcome("next start") == "failure")
        }
        #expect(try check(sandbox).status == 0)
        for isRunning in [false, true] {
            if isRunning { try installation.start(config: sandbox) }
            let locked = try LockedDatabase(installation.path("state/claims.sqlite"), installation)
            defer { locked.release() }
            let checked = try check(sandbox)
            #expect(
                checked.status == 4 && checked.output.contains("the process \(locked.process) has locked"),
                "\(checked.output)")
            #expect(try installation.diagnose().status == 4)
        }
    }

    @Test func `a problem that a start would only log is a warning or a note of config check`() throws {
        let sandbox = try installation.write("environment: sandbox\n", "sandbox.yaml")
        try installation.start(config: sandbox)
        installation.stop()
        let copy = try Data(contentsOf: URL(filePath: installation.database))
        try installation.start(config: sandbox)
        #expect(try installation.ctl("merchant", "add", "merchant.com.example.one").status == 0)
        installation.stop()
        try copy.write(to: URL(filePath: installation.database))
        let older = try check(sandbox)
        #expect(older.status == 4, "\(older.output)")
        #expect(older.output.components(separatedBy: "[databaseOlderThanLockFile]").count == 2, "\(older.output)")
        for file in ["merchantkeyd.sqlite", "claims.sqlite", "merchantkeyd.lock"] {
            try FileManager.default.removeItem(atPath: installation.path("state/\(file)"))
        }
        let missing = try check(sandbox)
        // A master key may be provided before the first start.
        #expect(missing.status == 0 && missing.output.contains("[masterKeyWithoutDatabase]"), "\(missing.output)")
    }

    @Test func `a command that prints a different master key each time is refused for a new database`() throws {
        let script = try installation.write("#!/bin/sh\nopenssl rand 32\n", "random.sh")
        #expect(chmod(script, 0o700) == 0)
        let config = try installation.write(
            "environment: sandbox\nmaster-key:\n  source: command\n  command: [\(script)]\n", "random.yaml")
        try expectRefusal(config, naming: "different master key each time", ["--run-commands"])
    }

    @Test func `config check warns about a socket of another daemon, not about those of the running daemon`() throws {
        let other = try Installation()
        try other.start()
        let shared = try installation.write(
            "environment: sandbox\nsockets:\n  decryptor:\n    path: \(other.decryptorSocket)\n", "shared.yaml")
        // It may be systemd that listens, so this is a warning.
        let warned = try check(shared)
        #expect(warned.status == 4 && warned.output.contains("'sockets.decryptor.path'"), "\(warned.output)")
        let started = try installation.failedStart([
            "--config", shared, "--state-directory", installation.stateDirectory,
        ])
        #expect(started.status == 1 && started.error.contains("'sockets.decryptor.path'"), "\(started.error)")
        let own = try installation.write("environment: sandbox\n", "own.yaml")
        try installation.start(config: own)
        let checked = try check(own)
        #expect(checked.status == 0, "\(checked.error)")
    }

    @Test func `every problem of a caller, a webhook, the portal and Apple's gateway is reported at once`() throws {
        let config = try installation.write(
            """
            environment: sandbox
            callers:
              - {user: nobody-of-this-name, uid: 7, permits: [read]}
            portal:
              listen: 127.0.0.1:0
            apple:
              gateway:
                url: http://x
                identity: {passphrase-file: /p}
            master-key:
              credential: a
              timeout: 5s
            events:
              webhooks:
                - {url: "http://x", secret-file: /nowhere, kinds: []}
                - {url: "https://127.0.0.1/x", secret-file: /nowhere}
            """, "wrong.yaml")
        let checked = try check(config)
        #expect(checked.status == 1)
        for name in [
            "'callers.0.user'", "'callers.0' has uid and user", "'portal.tls.certificate'", "'portal.tls.private-key'",
            "'apple.gateway.url'", "'apple.gateway.identity'", "'master-key.credential'", "'master-key.timeout'",
            "'events.webhooks.0.url'", "'events.webhooks.0.kinds'",
            "('events.webhooks.1') is at the internal address 127.0.0.1", "it also has a secret file /nowhere",
        ] {
            #expect(checked.error.contains(name), "\(name): \(checked.error)")
        }
    }
}

/// A Unix socket that a test listens on.
private struct LocalListener {
    let descriptor: CInt

    init(at path: String) throws {
        descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        try #require(descriptor >= 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let descriptor = descriptor
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 && listen(descriptor, 8) == 0
            }
        }
        try #require(result)
    }

    /// Whether a process has connected.
    var hasConnection: Bool {
        let connection = accept(descriptor, nil, nil)
        if connection >= 0 { _ = Glibc.close(connection) }
        return connection >= 0
    }

    func close() { _ = Glibc.close(descriptor) }
}

/// A TCP socket that listens on a free port of the loopback interface.
private struct BoundSocket {
    let descriptor: CInt
    let port: UInt16

    static func loopback() throws -> BoundSocket {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        try #require(descriptor >= 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, generic, &length) == 0
            }
        }
        try #require(result)
        return BoundSocket(descriptor: descriptor, port: UInt16(bigEndian: address.sin_port))
    }

    func close() { _ = Glibc.close(descriptor) }
}
