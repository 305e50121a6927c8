import Foundation
import Testing

/// The audit records exports of private keys, unverified decryptions and refused requests. An export or unverified
/// decryption is refused if it cannot be recorded.
@Suite struct AuditedUseTests {
    let installation: Installation

    init() throws { installation = try Installation() }

    /// The number of refused requests for this key, summed over the audit records.
    private func refusals(of hash: String) throws -> Int {
        try installation.auditRecords("requestsRefused").filter { $0["publicKeyHash"] as? String == hash }
            .compactMap { ($0["reason"] as? String)?.split(separator: " ").first.flatMap { Int($0) } }.reduce(0, +)
    }

    @Test func `refused requests are audited within seconds and at a clean shutdown`() throws {
        try installation.start()
        try installation.apple("init")
        #expect(try installation.ctl("merchant", "add", "merchant.com.refused").status == 0)
        let hash = try installation.certifiedKey("merchant.com.refused", "k")
        let path = "/v1/keys/\(pathSpelling(hash))?include=privateKey"
        let client = try LoadClient(installation.decryptorSocket)
        for _ in 0..<500 { #expect(try client.call("GET", path).status == 403) }
        try installation.eventually("500 refusals are audited") { try refusals(of: hash) == 500 }
        #expect(try installation.auditRecords("requestsRefused").count <= 4)
        let record = try #require(try installation.auditRecords("requestsRefused").first)
        #expect((record["reason"] as? String)?.contains("'exportPrivateKey'") == true, "\(record)")
        #expect((record["caller"] as? [String: Any])?["pid"] as? Int == Int(getpid()), "\(record)")
        for _ in 0..<7 { #expect(try client.call("GET", path).status == 403) }
        installation.stop()
        try installation.start()
        #expect(try refusals(of: hash) == 507)
        #expect(try installation.ctl("audit", "verify").status == 0)
    }

    @Test(.onlyOnSQLite, .enabled(if: SmallFileSystem.isPossible, "mounting a small file system takes root"))
    func `on a full disk exports and unverified decryptions are refused, and keys can be resolved`() throws {
        let disk = try SmallFileSystem(at: installation.path("state"), megabytes: 12)
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
        func export() throws -> [String: Any] {
            try installation.curlBody(
                installation.decryptorSocket, "/v1/keys/\(pathSpelling(hash))?include=privateKey"
            ).json()
        }
        func decrypt() throws -> Installation.Outcome {
            try installation.ctl("token", "decrypt", installation.path("token.json"), "--unverified")
        }
        #expect(try export()["privateKey"] is String)
        #expect(try decrypt().status == 0)
        try disk.fill()
        // The rest of the last page holds a few more records.
        try installation.eventually("the audit is full") { try export()["privateKey"] == nil }
        let refusedExport = try export()
        #expect(refusedExport["code"] as? String == "storeUnavailable")
        #expect(!"\(refusedExport)".contains("PRIVATE KEY"))
        let refusedDecryption = try decrypt()
        #expect(refusedDecryption.status == 1 && refusedDecryption.refusalCode == "storeUnavailable")
        #expect(try installation.uses(hash) == ["200", "200"])
        try disk.freeSpace()
        try installation.eventually("the daemon is ready again") { try installation.health().status == "200" }
        #expect(try export()["privateKey"] is String)
        #expect(try decrypt().status == 0)
        #expect(try installation.ctl("audit", "verify").status == 0)
        installation.stop()
    }
}
