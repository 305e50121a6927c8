import Foundation
import MerchantTestSupport
import Testing

/// A payment is taken once: by whichever of many processes, whatever becomes of the daemon meanwhile.
@Suite struct ClaimTests {
    static let merchant = "merchant.com.example.claims"

    /// A daemon that serves one merchant with one key.
    func installation() throws -> Installation {
        let installation = try Installation()
        try installation.apple("init")
        try installation.start(config: try Self.config(of: installation))
        #expect(try installation.ctl("merchant", "add", Self.merchant).status == 0)
        _ = try installation.certifiedKey(Self.merchant, "key")
        return installation
    }

    static func config(of installation: Installation) throws -> String {
        try installation.write(
            "environment: sandbox\ntrust:\n  token-roots: [\(installation.path("apple/root.pem"))]\nlog:\n  level: warning\n",
            "merchantkeyd.yaml")
    }

    /// Whole payment tokens, one a line.
    func mint(_ installation: Installation, _ count: Int, _ options: String..., to name: String = "tokens.json") throws
        -> String
    {
        let outcome = try Installation.run(
            [
                "\(Installation.programs)/applepay-sandbox", "mint-token", "--certificate",
                installation.path("key.cer"),
                "--directory", installation.path("apple"), "--count", "\(count)", "--out", installation.path(name),
            ] + options)
        try #require(outcome.status == 0, "\(outcome.error)")
        return installation.path(name)
    }

    @Test(
        .tags(.slow), .skippedInQuickRuns, .enabled(if: Installation.hasPython, "needs Python's package cryptography"))
    func
        `64 processes claim the same 1,000 tokens at once, the daemon is killed in the middle, and each is won exactly once`()
        throws
    {
        let installation = try installation()
        let tokens = try mint(installation, 1000)
        let script = try #require(Bundle.module.path(forResource: "claim_tokens", ofType: "py", inDirectory: "Scripts"))
        let claimants = try ChildProcess(
            ["python3", script, installation.decryptorSocket, tokens, Self.merchant, "64", "20000"],
            output: .file(installation.path("claims.out")), error: .file(installation.path("claims.err")))
        func told() throws -> String { try String(contentsOfFile: installation.path("claims.err"), encoding: .utf8) }
        // Waiting for other processes: there is no clock of ours to move.
        while try !told().contains("in the middle"), claimants.isRunning { Thread.sleep(forTimeInterval: 0.01) }
        installation.stop(SIGKILL)
        try installation.start(config: try Self.config(of: installation))
        let end = claimants.wait()
        let complaints = try told()
        #expect(end == .exited(0), "\(complaints)")

        let output = try Data(contentsOf: URL(filePath: installation.path("claims.out")))
        let result = try #require(try JSONSerialization.jsonObject(with: output) as? [String: Any])
        #expect(result["tokens"] as? Int == 1000)
        #expect(result["wonTimes"] as? [String: Int] == ["1": 1000])
        #expect(result["refused"] as? [String: Int] == ["tokenAlreadyClaimed": 63_000])
    }

    @Test func `a claim survives a kill, and its own request is answered again after it`() throws {
        let installation = try installation()
        let token = try mint(installation, 1)
        let paymentData = try JSONSerialization.data(
            withJSONObject: try #require(
                (JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: token))) as? [String: Any])?[
                    "paymentData"]))
        let body = try installation.write(
            #"{"paymentData":\#(String(decoding: paymentData, as: UTF8.self)),"expected":{"merchantIdentifier":"\#(Self.merchant)"}}"#,
            "body.json")
        func claim(_ key: String) throws -> String {
            try installation.curl(
                installation.decryptorSocket, "/v1/payment-tokens/decrypt", "-d", "@\(body)", "-H",
                "Idempotency-Key: \(key)"
            ).output
        }
        #expect(try claim("mine") == "200")
        installation.stop(SIGKILL)
        try installation.start(config: try Self.config(of: installation))
        #expect(try claim("other") == "409")
        #expect(try claim("mine") == "200")
        // The command line looks on without taking, unless it is told to.
        #expect(try installation.ctl("token", "decrypt", token).status == 0)
        let taken = try installation.ctl("token", "decrypt", token, "--claim")
        #expect(taken.status == 1 && taken.error.contains("claimed"), "\(taken.error)")
        let second = try mint(installation, 1, to: "second.json")
        #expect(try installation.ctl("token", "decrypt", second).status == 0)
        #expect(try installation.ctl("token", "decrypt", second, "--claim").status == 0)
        #expect(try installation.ctl("token", "decrypt", second, "--claim").status == 1)
        let view = try installation.ctl("token", "decrypt", second, "--view", "authorization")
        #expect(view.output.contains("primaryAccountNumber") && view.output.contains("************1111"))
        #expect(!view.output.contains("4111111111111111"))
        let raw = try installation.ctl("token", "decrypt", second, "--view", "authorization", "--raw")
        #expect(try raw.json()["primaryAccountNumber"] as? String == "4111111111111111")
    }

    @Test func `a lost file of claims is made anew and told of; a damaged one stops claims and nothing else`() throws {
        let installation = try installation()
        let token = try mint(installation, 1)
        func log() throws -> String { try String(contentsOfFile: installation.path("daemon.log"), encoding: .utf8) }
        #expect(try installation.ctl("token", "decrypt", token, "--claim").status == 0)
        let claims = installation.path("state/claims.sqlite")
        let mode = try FileManager.default.attributesOfItem(atPath: claims)[.posixPermissions] as? Int
        #expect(mode == 0o600)

        installation.stop()
        #expect(try !log().contains("finding=claims"))
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: claims + suffix) }
        try installation.start(config: try Self.config(of: installation))
        #expect(try log().contains("finding=claimsMissing"))
        #expect(try installation.ctl("token", "decrypt", token, "--claim").status == 0)

        installation.stop(SIGKILL)
        try installation.start(config: try Self.config(of: installation))
        #expect(try !log().contains("finding=claims"))
        installation.stop(SIGKILL)
        try FileManager.default.removeItem(atPath: claims + "-wal")
        try installation.start(config: try Self.config(of: installation))
        #expect(try log().contains("finding=claimsLogMissing"))

        installation.stop()
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: claims + suffix) }
        try Data(repeating: 0x41, count: 8192).write(to: URL(filePath: claims))
        try installation.start(config: try Self.config(of: installation), answering: ["503"])
        let refused = try installation.ctl("token", "decrypt", token, "--claim")
        #expect(refused.status == 1 && refused.refusalCode == "storeUnavailable", "\(refused.error)")
        #expect(try installation.ctl("token", "decrypt", token).status == 0)
        #expect(try installation.ctl("merchant", "add", "merchant.com.example.more").status == 0)
        #expect(try installation.check().status == 2)
        #expect(try installation.findings().contains("claimsRefused"))
        #expect(try installation.curlBody(installation.adminSocket, "/v1/health").output.contains("claimsRefused"))
    }
}
