import Foundation
import Glibc
import Testing

/// What still works when the storage does not, and what the daemon says.
@Suite struct FailingStorageTests {
    let installation: Installation

    init() throws { installation = try Installation() }

    func onboard() throws -> String {
        try installation.apple("init")
        #expect(try installation.ctl("merchant", "add", "merchant.com.disk").status == 0)
        return try installation.certifiedKey("merchant.com.disk", "k")
    }

    /// Asks for key pairs until one is refused.
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

    @Test(.enabled(if: SmallDisk.isPossible, "mounting a small file system takes root"))
    func `on a full disk changes are refused, keys are answered, and all goes on once there is room`() throws {
        let disk = try SmallDisk(at: installation.path("state"), megabytes: 12)
        // Who gets events is on record too, and must not keep the daemon from starting. Nobody listens there.
        let secret = try installation.write("0123456789abcdef0123456789abcdef", "webhook.secret")
        chmod(secret, 0o600)
        let config = try installation.write(
            """
            events:
              webhooks:
                - url: https://127.0.0.1:1/
                  secret-file: \(secret)
                  allow-internal-addresses: true
            """, "webhook.yaml")
        try installation.start(config: config)
        let hash = try onboard()
        #expect(try installation.check().status == 0)
        try disk.fill()
        let answer = try refusal()
        #expect(answer["code"] as? String == "storeUnavailable", "\(answer)")
        #expect((answer["detail"] as? String)?.contains("the disk is full") == true, "\(answer)")
        #expect(try installation.uses(hash) == ["200", "200"])
        let health = try installation.health()
        #expect(health.status == "503" && health.body.contains("the disk is full"), "\(health)")
        let check = try installation.check()
        #expect(check.status == 2 && check.line.contains("the disk is full"), "\(check)")

        // A daemon that has to start again on the full disk keeps no payment waiting.
        installation.stop(SIGKILL)
        try disk.fill()
        try installation.start(config: config, answering: ["200", "503"])
        #expect(try installation.uses(hash) == ["200", "200"])
        #expect(try refusal()["code"] as? String == "storeUnavailable")
        #expect(try installation.check().status == 2)

        // Nor does one that ended in order, and has to make its shared memory anew; nor the next, whoever takes what came free.
        for signal in [SIGTERM, SIGKILL, SIGTERM, SIGTERM] {
            installation.stop(signal)
            try disk.fill()
            try installation.start(config: config, answering: ["200", "503"])
            #expect(try installation.uses(hash) == ["200", "200"])
        }
        try installation.eventually("the lack of room is told before a change is refused for it") {
            try installation.ctl("status").output.contains("KiB are free")
        }

        try disk.makeRoom()
        try installation.eventually("ready again") { try installation.health().status == "200" }
        try installation.eventually("all is well") { try installation.check().status == 0 }
        #expect(try installation.ctl("key", "generate", "merchant.com.disk").status == 0)
        #expect(try installation.ctl("audit", "verify").status == 0)
        installation.stop()
    }

    @Test(.enabled(if: SmallDisk.isPossible, "mounting a small file system takes root"))
    func `a read-only file system is named at the start`() throws {
        let disk = try SmallDisk(at: installation.path("state"), megabytes: 12)
        try installation.start()
        installation.stop()
        try disk.remount("ro")
        let outcome = try installation.failedStart("--state-directory", disk.path)
        #expect(outcome.status == 1 && outcome.error.contains("Read-only file system"), "\(outcome.error)")
        let diagnosis = try installation.ctl("diagnose", "--state-directory", disk.path)
        #expect(diagnosis.status == 1 && diagnosis.output.contains("read-only"), "\(diagnosis.output)")
        try disk.remount("rw")
        try installation.start()
        installation.stop()
    }

    @Test(
        .enabled(if: FailingCalls.isPossible, "needs a C compiler"),
        arguments: ["fsync EIO", "write EIO", "write EROFS"])
    func `after a failed write or sync nothing is written until a restart, and keys are answered`(order: String) throws
    {
        try installation.start(environment: try FailingCalls.environment(in: installation))
        let hash = try onboard()
        _ = try installation.write(order, "orders")
        let refused = try installation.ctl("key", "generate", "merchant.com.disk")
        #expect(refused.status == 1)
        #expect(refused.refusalCode == "storeUnavailable", "\(refused.error)")
        // The storage works again: what failed once proves nothing any more.
        try FileManager.default.removeItem(atPath: installation.path("orders"))
        let next = try installation.ctl("key", "generate", "merchant.com.disk")
        #expect(next.refusalCode == "storeUnavailable", "\(next.error)")
        #expect(try installation.uses(hash) == ["200", "200"])
        let health = try installation.health()
        #expect(health.status == "503" && health.body.contains("the storage failed"), "\(health)")
        #expect(try installation.check().status == 2)
        try installation.restart(SIGKILL)
        #expect(try installation.uses(hash) == ["200", "200"])
        #expect(try installation.ctl("key", "generate", "merchant.com.disk").status == 0)
        #expect(try installation.ctl("audit", "verify").status == 0)
    }
}
