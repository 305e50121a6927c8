import Foundation
import Glibc
import Testing

/// The daemon's service and reports while its storage fails.
@Suite(.onlyOnSQLite) struct FailingStorageTests {
    let installation: Installation

    init() throws { installation = try Installation() }

    func onboard() throws -> String {
        try installation.apple("init")
        #expect(try installation.ctl("merchant", "add", "merchant.com.disk").status == 0)
        return try installation.certifiedKey("merchant.com.disk", "k")
    }

    /// Adds merchants and generates key pairs until a request is refused.
    ///
    /// - Returns: the problem document; empty if no request was refused.
    func refusal() throws -> [String: Any] {
        let client = try LoadClient(installation.adminSocket)
        for number in 0..<64 {
            let body = Array(#"{"merchantIdentifier": "merchant.m\#(number)"}"#.utf8)
            let (status, answer) = try client.object("POST", "/v1/merchants", body)
            if !(200...201).contains(status) { return answer }
        }
        for number in 0..<3000 {
            let (status, answer) = try client.object("POST", "/v1/merchants/merchant.m\(number % 64)/keys")
            if status != 201 { return answer }
        }
        return [:]
    }

    @Test(.enabled(if: SmallFileSystem.isPossible, "only root can mount a file system"))
    func `on a full disk changes are refused, keys stay usable, and changes resume once space is free`() throws {
        let disk = try SmallFileSystem(at: installation.path("state"), megabytes: 12)
        // The start records the configured webhooks in the audit. This must not prevent the start on a full disk.
        // Nothing listens at this address.
        let secret = try installation.write("0123456789abcdef0123456789abcdef", "webhook.secret")
        chmod(secret, 0o600)
        let config = try installation.write(
            """
            environment: sandbox
            events:
              webhooks:
                - url: https://127.0.0.1:1/
                  secret-file: \(secret)
                  allow-internal-addresses: true
            """, "webhook.yaml")
        try installation.start(config: config)
        let hash = try onboard()
        #expect(try installation.checkStatus() == 0)
        try disk.fill()
        #expect(try refusal()["code"] as? String == "storeUnavailable")
        #expect(try installation.uses(hash) == ["200", "200"])
        let health = try installation.health()
        #expect(health.status == "503" && !health.isReady, "\(health)")
        #expect(try installation.checkStatus() == 2)
        #expect(try installation.findings().contains("storeFailing"))

        // A daemon that starts on a full disk serves decryptors.
        installation.stop(SIGKILL)
        try disk.fill()
        try installation.start(config: config, answering: ["200", "503"])
        #expect(try installation.uses(hash) == ["200", "200"])
        #expect(try refusal()["code"] as? String == "storeUnavailable")
        #expect(try installation.checkStatus() == 2)

        // The daemon also starts after a clean shutdown, when it must create the shared memory file, and when other
        // files have taken the freed space.
        for signal in [SIGTERM, SIGKILL, SIGTERM, SIGTERM] {
            installation.stop(signal)
            try disk.fill()
            #expect(try configCheckStatus(config) == 4)
            try installation.start(config: config, answering: ["200", "503"])
            #expect(try installation.uses(hash) == ["200", "200"])
        }
        try installation.eventually("status reports the full disk before a change is refused") {
            try installation.findings().contains("diskNearlyFull")
        }
        #expect(try installation.diagnose().outcome("disk space") == "failure")

        try disk.freeSpace()
        try installation.eventually("the daemon is ready again") { try installation.health().status == "200" }
        try installation.eventually("status reports no problem") { try installation.checkStatus() == 0 }
        // `diagnose` and `status` apply the same limits.
        #expect(try installation.diagnose().outcome("disk space") == "success")
        #expect(try installation.ctl("key", "generate", "merchant.com.disk").status == 0)
        #expect(try installation.ctl("audit", "verify").status == 0)
        installation.stop()

        // Without its reserve, the daemon cannot start.
        try FileManager.default.removeItem(atPath: "\(disk.path)/merchantkeyd.reserve")
        try disk.fill()
        #expect(try configCheckStatus(config) == 4)
        #expect(try installation.diagnose().outcome("next start") == "warning")
        let refused = try installation.failedStart(["--config", config, "--state-directory", disk.path])
        #expect(refused.status == 1, "\(refused.error)")
    }

    /// The exit status of `config check`.
    private func configCheckStatus(_ config: String) throws -> Int32 {
        try installation.ctl("config", "check", "--config", config, "--state-directory", installation.stateDirectory)
            .status
    }

    @Test(.enabled(if: SmallFileSystem.isPossible, "only root can mount a file system"))
    func `config check warns if a first start needs more space than the disk has`() throws {
        let config = try installation.write("environment: sandbox\n", "sandbox.yaml")
        let disk = try SmallFileSystem(at: installation.path("state"), megabytes: 1)
        try disk.fill()
        #expect(try configCheckStatus(config) == 4)
        let refused = try installation.failedStart(["--config", config, "--state-directory", disk.path])
        #expect(refused.status == 1, "\(refused.error)")
    }

    @Test(.enabled(if: SmallFileSystem.isPossible, "only root can mount a file system"))
    func `a start on a read-only file system is refused with this reason`() throws {
        let disk = try SmallFileSystem(at: installation.path("state"), megabytes: 12)
        try installation.start()
        installation.stop()
        try disk.remount("ro")
        let outcome = try installation.failedStart("--state-directory", disk.path)
        #expect(outcome.status == 1 && outcome.error.contains(String(cString: strerror(EROFS))), "\(outcome.error)")
        let diagnosis = try installation.diagnose()
        #expect(diagnosis.status == 1 && diagnosis.failures.contains("disk space"), "\(diagnosis)")
        try disk.remount("rw")
        try installation.start()
        installation.stop()
    }

    @Test(
        .enabled(if: FailingCalls.isPossible, "a C compiler is not installed"),
        arguments: ["fsync EIO", "write EIO", "write EROFS"])
    func `after a failed write or sync nothing is written until a restart, and keys stay usable`(failure: String)
        throws
    {
        try installation.start(environment: try FailingCalls.environment(in: installation))
        let hash = try onboard()
        _ = try installation.write(failure, FailingCalls.file)
        let refused = try installation.ctl("key", "generate", "merchant.com.disk")
        #expect(refused.status == 1)
        #expect(refused.refusalCode == "storeUnavailable", "\(refused.error)")
        // The storage works again, but the daemon does not know which writes have reached it.
        try FileManager.default.removeItem(atPath: installation.path(FailingCalls.file))
        let next = try installation.ctl("key", "generate", "merchant.com.disk")
        #expect(next.refusalCode == "storeUnavailable", "\(next.error)")
        #expect(try installation.uses(hash) == ["200", "200"])
        let health = try installation.health()
        #expect(health.status == "503" && !health.isReady, "\(health)")
        #expect(try installation.findings().contains("storeFailing"))
        #expect(try installation.checkStatus() == 2)
        try installation.restart(SIGKILL)
        #expect(try installation.uses(hash) == ["200", "200"])
        #expect(try installation.ctl("key", "generate", "merchant.com.disk").status == 0)
        #expect(try installation.ctl("audit", "verify").status == 0)
    }
}
