import Foundation
import MerchantTestSupport
import Testing

/// A payment token can be claimed once, even if many processes claim it and the daemon is killed.
@Suite struct ClaimTests {
    static let merchant = "merchant.com.example.claims"

    /// Starts a daemon with one merchant that has one key.
    func startDaemon() throws -> Installation {
        let installation = try Installation()
        try installation.apple("init")
        try installation.start(config: try Self.config(of: installation))
        #expect(try installation.ctl("merchant", "add", Self.merchant).status == 0)
        _ = try installation.certifiedKey(Self.merchant, "key")
        return installation
    }

    /// Writes the settings file.
    ///
    /// - Returns: the file's path.
    static func config(of installation: Installation) throws -> String {
        try installation.write(
            "environment: sandbox\ntrust:\n  token-roots: [\(installation.path("apple/root.pem"))]\nlog:\n  level: warning\n",
            "merchantkeyd.yaml")
    }

    @Test(
        .tags(.slow), .skippedInQuickRuns, .enabled(if: Installation.hasPython, "needs Python's package cryptography"))
    func
        `each of 1,000 tokens that 64 processes claim at the same time is claimed exactly once, even if the daemon is killed`()
        throws
    {
        let installation = try startDaemon()
        let report = try ClaimReport.ofConcurrentClaims(
            of: installation.mintTokens(1000), for: Self.merchant, on: [installation]
        ) {
            installation.stop(SIGKILL)
            try installation.start(config: Self.config(of: installation))
        }
        #expect(report == .eachClaimedOnce(1000))
    }

    @Test func `a claim survives a kill, its request can be repeated, and the command line claims only with --claim`()
        throws
    {
        let installation = try startDaemon()
        let token = try installation.mintTokens()
        let paymentData = try JSONSerialization.data(
            withJSONObject: try #require(
                (JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: token))) as? [String: Any])?[
                    "paymentData"]))
        let body = try installation.write(
            #"{"paymentData":\#(String(decoding: paymentData, as: UTF8.self)),"expected":{"merchantIdentifier":"\#(Self.merchant)"}}"#,
            "body.json")
        func claim(_ idempotencyKey: String) throws -> String {
            try installation.curl(
                installation.decryptorSocket, "/v1/payment-tokens/decrypt", "-d", "@\(body)", "-H",
                "Idempotency-Key: \(idempotencyKey)"
            ).output
        }
        #expect(try claim("first") == "200")
        installation.stop(SIGKILL)
        try installation.start(config: try Self.config(of: installation))
        #expect(try claim("other") == "409")
        #expect(try claim("first") == "200")
        // The command line claims only with --claim.
        #expect(try installation.ctl("token", "decrypt", token).status == 0)
        let claimed = try installation.ctl("token", "decrypt", token, "--claim")
        #expect(claimed.status == 1 && claimed.refusalCode == "tokenAlreadyClaimed", "\(claimed.error)")
        let second = try installation.mintTokens(to: "second.json")
        #expect(try installation.ctl("token", "decrypt", second).status == 0)
        #expect(try installation.ctl("token", "decrypt", second, "--claim").status == 0)
        #expect(try installation.ctl("token", "decrypt", second, "--claim").status == 1)
        let view = try installation.ctl("token", "decrypt", second, "--view", "authorization")
        #expect(view.output.contains("primaryAccountNumber") && view.output.contains("************1111"))
        #expect(!view.output.contains("4111111111111111"))
        let raw = try installation.ctl("token", "decrypt", second, "--view", "authorization", "--raw")
        #expect(try raw.json()["primaryAccountNumber"] as? String == "4111111111111111")
    }

    @Test(.onlyOnSQLite, .enabled(if: Installation.hasPythonSQLite, "python3 is not installed"))
    func `after a claim with a clock that was ahead, claims are refused until the claims file is removed`()
        throws
    {
        let installation = try startDaemon()
        let (first, second) = (try installation.mintTokens(to: "1.json"), try installation.mintTokens(to: "2.json"))
        #expect(try installation.ctl("token", "decrypt", first, "--claim").status == 0)
        installation.stop()
        let claims = installation.path("state/claims.sqlite")
        // As if the clock was 40 days ahead when the token was claimed.
        _ = try installation.sql("UPDATE claims SET claimed_at = claimed_at + 3456000000", in: claims)

        try installation.start(config: try Self.config(of: installation), answering: ["503"])
        let refused = try installation.ctl("token", "decrypt", second, "--claim")
        #expect(refused.status == 1 && refused.refusalCode == "tokenNotVerified", "\(refused.error)")
        #expect(try installation.ctl("token", "decrypt", second).status == 0)
        #expect(try installation.checkStatus() == 2)
        #expect(try installation.finding("claimsRefused")?["severity"] as? String == "critical")
        let health = try installation.health(installation.adminSocket)
        #expect(!health.isReady && health.findings.contains("claimsRefused"))
        try installation.eventually("the refusal is logged") { installation.log.contains("claims.sqlite") }

        installation.stop()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: claims + suffix) }
        try installation.start(config: try Self.config(of: installation))
        #expect(try installation.ctl("token", "decrypt", second, "--claim").status == 0)
        #expect(try !installation.findings().contains("claimsRefused"))
    }

    @Test(.onlyOnSQLite)
    func `claims are not reported as lost if only the database was moved`()
        throws
    {
        let installation = try startDaemon()
        let token = try installation.mintTokens()
        #expect(try installation.ctl("token", "decrypt", token, "--claim").status == 0)
        let aside = installation.path("aside")
        try FileManager.default.moveItem(atPath: installation.database, toPath: aside)
        #expect(try installation.ctl("merchant", "add", "merchant.com.example.more").status == 1)
        installation.stop()
        try FileManager.default.moveItem(atPath: aside, toPath: installation.database)
        let findings = try installation.diagnose().codes
        #expect(!findings.contains("claimsLogMissing"), "\(findings)")
        try installation.start(config: try Self.config(of: installation))
        #expect(!installation.log.contains("finding=claims"))
        #expect(try installation.ctl("token", "decrypt", token, "--claim").refusalCode == "tokenAlreadyClaimed")
    }

    @Test(.onlyOnSQLite) func `for a claims file that the daemon cannot use, no missing write-ahead log is reported`()
        throws
    {
        let installation = try startDaemon()
        installation.stop()
        let claims = installation.path("state/claims.sqlite")
        #expect(chmod(claims, 0o644) == 0)
        try installation.start(config: try Self.config(of: installation), answering: ["503"])
        #expect(try !installation.diagnose().codes.contains("claimsLogMissing"))
        installation.stop(SIGKILL)
        #expect(try !installation.diagnose().codes.contains("claimsLogMissing"))
        #expect(chmod(claims, 0o600) == 0)
        try installation.start(config: try Self.config(of: installation))
        #expect(!installation.log.contains("finding=claims"))
    }

    @Test(.onlyOnSQLite) func `a claims file that cannot be opened at the start is opened as soon as possible`() throws
    {
        let installation = try startDaemon()
        let token = try installation.mintTokens()
        #expect(try installation.ctl("token", "decrypt", token, "--claim").status == 0)
        installation.stop()
        let claims = installation.path("state/claims.sqlite")
        let config = try Self.config(of: installation)
        #expect(chmod(claims, 0o644) == 0)
        try installation.start(config: config, answering: ["503"])
        let refused = try installation.ctl("token", "decrypt", token, "--claim")
        #expect(refused.refusalCode == "storeUnavailable" && refused.error.contains("644"), "\(refused.error)")
        // The daemon creates no empty file in its place, because the token could then be claimed again.
        try FileManager.default.moveItem(atPath: claims, toPath: installation.path("away"))
        try installation.eventually("the daemon reports the missing file") {
            try installation.health().findings.contains("claimsRefused")
                && installation.ctl("token", "decrypt", token, "--claim").error.contains("was removed")
        }
        #expect(!FileManager.default.fileExists(atPath: claims))
        try FileManager.default.moveItem(atPath: installation.path("away"), toPath: claims)
        #expect(chmod(claims, 0o600) == 0)
        try installation.eventually("the daemon is ready") { try installation.health().status == "200" }
        #expect(try installation.ctl("token", "decrypt", token, "--claim").refusalCode == "tokenAlreadyClaimed")
        // From now on a missing log is a loss.
        installation.stop(SIGKILL)
        try FileManager.default.removeItem(atPath: claims + "-wal")
        #expect(try installation.diagnose().codes.contains("claimsLogMissing"))
    }

    @Test(.onlyOnSQLite) func `while another program locks the claims file, the daemon is not ready`() throws {
        let installation = try startDaemon()
        let token = try installation.mintTokens()
        let locked = try LockedDatabase(installation.path("state/claims.sqlite"), installation)
        defer { locked.release() }
        #expect(try installation.ctl("token", "decrypt", token, "--claim").refusalCode == "storeUnavailable")
        let health = try installation.health()
        #expect(health.status == "503" && !health.isReady && health.findings.contains("claimsRefused"))
        #expect(try installation.checkStatus() == 2)
        // The main database still accepts changes.
        #expect(try installation.ctl("merchant", "add", "merchant.com.example.more").status == 0)
        locked.release()
        // The daemon becomes ready again without a further claim.
        try installation.eventually("the daemon is ready again", within: .seconds(30)) {
            try installation.health().status == "200"
        }
        #expect(try installation.ctl("token", "decrypt", token, "--claim").status == 0)
    }

    @Test(.onlyOnSQLite)
    func `a missing claims file is created again and reported; a damaged one stops claims, not other requests`()
        throws
    {
        let installation = try startDaemon()
        let token = try installation.mintTokens()
        #expect(try installation.ctl("token", "decrypt", token, "--claim").status == 0)
        let claims = installation.path("state/claims.sqlite")
        let mode = try FileManager.default.attributesOfItem(atPath: claims)[.posixPermissions] as? Int
        #expect(mode == 0o600)

        installation.stop()
        #expect(!installation.log.contains("finding=claims"))
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: claims + suffix) }
        try installation.start(config: try Self.config(of: installation))
        #expect(installation.log.contains("finding=claimsMissing"))
        #expect(try installation.ctl("token", "decrypt", token, "--claim").status == 0)

        installation.stop(SIGKILL)
        try installation.start(config: try Self.config(of: installation))
        #expect(!installation.log.contains("finding=claims"))
        installation.stop(SIGKILL)
        try FileManager.default.removeItem(atPath: claims + "-wal")
        try installation.start(config: try Self.config(of: installation))
        #expect(installation.log.contains("finding=claimsLogMissing"))

        installation.stop()
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: claims + suffix) }
        try Data(repeating: 0x41, count: 8192).write(to: URL(filePath: claims))
        try installation.start(config: try Self.config(of: installation), answering: ["503"])
        let refused = try installation.ctl("token", "decrypt", token, "--claim")
        #expect(refused.status == 1 && refused.refusalCode == "storeUnavailable", "\(refused.error)")
        #expect(try installation.ctl("token", "decrypt", token).status == 0)
        #expect(try installation.ctl("merchant", "add", "merchant.com.example.more").status == 0)
        #expect(try installation.checkStatus() == 2)
        #expect(try installation.findings().contains("claimsRefused"))
        #expect(try installation.health(installation.adminSocket).findings.contains("claimsRefused"))
    }
}
