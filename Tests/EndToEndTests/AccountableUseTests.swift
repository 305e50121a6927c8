import Foundation
import Testing

/// What decryptors do with keys, and are refused, is on record; what must be and cannot be does not happen.
@Suite struct AccountableUseTests {
    let installation: Installation

    init() throws { installation = try Installation() }

    private func records(_ action: String) throws -> [[String: Any]] {
        let page = try installation.ctlJSON("audit", "list", "--limit", "1000")
        return (page["items"] as? [[String: Any]] ?? []).filter { $0["action"] as? String == action }
    }

    /// How many refused requests are on record.
    private func refusals(of hash: String) throws -> Int {
        try records("requestsRefused").filter { $0["publicKeyHash"] as? String == hash }
            .compactMap { ($0["reason"] as? String)?.split(separator: " ").first.flatMap { Int($0) } }.reduce(0, +)
    }

    @Test func `refused requests are on record within seconds, and those before an orderly end too`() throws {
        try installation.start()
        try installation.apple("init")
        #expect(try installation.ctl("merchant", "add", "merchant.com.refused").status == 0)
        let hash = try installation.certifiedKey("merchant.com.refused", "k")
        let path = "/v1/keys/\(pathSpelling(hash))?include=privateKey"
        let client = try LoadClient(installation.decryptorSocket)
        for _ in 0..<500 { #expect(try client.call("GET", path).status == 403) }
        try installation.eventually("500 refusals are on record") { try refusals(of: hash) == 500 }
        #expect(try records("requestsRefused").count <= 4)
        let record = try #require(try records("requestsRefused").first)
        #expect((record["reason"] as? String)?.contains("no permit 'exportPrivateKey'") == true, "\(record)")
        #expect((record["caller"] as? [String: Any])?["pid"] as? Int == Int(getpid()), "\(record)")
        for _ in 0..<7 { #expect(try client.call("GET", path).status == 403) }
        installation.stop()
        try installation.start()
        #expect(try refusals(of: hash) == 507)
        #expect(try installation.ctl("audit", "verify").status == 0)
    }

    @Test(.enabled(if: SmallDisk.isPossible, "mounting a small file system takes root"))
    func `on a full disk no private key leaves and no unverified token is opened, and keys are resolved`() throws {
        let disk = try SmallDisk(at: installation.path("state"), megabytes: 12)
        let permits =
            "administer, read, resolve, symmetricKey, decrypt, decryptUnverified, judgeAtOtherTime, exportPrivateKey"
        let config = try installation.write(
            "environment: sandbox\ncallers:\n  - uid: \(getuid())\n    permits: [\(permits)]\n", "c.yaml")
        try installation.start(config: config)
        try installation.apple("init")
        #expect(try installation.ctl("merchant", "add", "merchant.com.full").status == 0)
        let hash = try installation.certifiedKey("merchant.com.full", "k")
        try installation.apple(
            "mint-token", "--certificate", installation.path("k.cer"), "--amount", "4242", "--out",
            installation.path("token.json"))
        func export() throws -> String {
            try installation.curlBody(
                installation.decryptorSocket, "/v1/keys/\(pathSpelling(hash))?include=privateKey"
            ).output
        }
        func open() throws -> Installation.Outcome {
            try installation.ctl("token", "decrypt", installation.path("token.json"), "--unverified")
        }
        #expect(try export().contains("PRIVATE KEY"))
        #expect(try open().status == 0)
        try disk.fill()
        // What is left of the last page takes a few more records.
        try installation.eventually("the audit is full") { try !export().contains("PRIVATE KEY") }
        let kept = try export()
        #expect(kept.contains("storeUnavailable") && kept.contains("the private key is not exported"), "\(kept)")
        #expect(!kept.contains("PRIVATE KEY"))
        let closed = try open()
        #expect(closed.status == 1 && closed.error.contains("the token is not opened"), "\(closed.error)")
        #expect(try installation.uses(hash) == ["200", "200"])
        try disk.makeRoom()
        try installation.eventually("ready again") { try installation.health().status == "200" }
        #expect(try export().contains("PRIVATE KEY"))
        #expect(try open().status == 0)
        #expect(try installation.ctl("audit", "verify").status == 0)
        installation.stop()
    }
}
