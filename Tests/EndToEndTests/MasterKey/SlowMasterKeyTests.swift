import Foundation
import MerchantTestSupport
import Testing

/// Master key commands that are slow, or that print a different key each time.
@Suite struct SlowMasterKeyTests {
    let installation: Installation

    init() throws {
        installation = try Installation()
        try installation.apple("init")
    }

    @Test(.onlyOnSQLite) func `tokens are decrypted while a backup and a rotation wait for the master key command`()
        throws
    {
        let created = try Installation.run([
            "sh", "-c",
            "umask 077; head -c 32 /dev/urandom > \(installation.path("key")); touch \(installation.path("go"))",
        ])
        #expect(created.status == 0)
        let script = try installation.write(
            """
            #!/bin/sh
            cd \(installation.directory)
            echo $$ >> requests
            while [ ! -e go ]; do sleep 0.05; done
            cat key
            """, "key.sh")
        #expect(chmod(script, 0o700) == 0)
        let config = try installation.write(
            """
            environment: sandbox
            trust:
              token-roots: [\(installation.path("apple/root.pem"))]
            master-key:
              source: command
              command: [\(script)]
              timeout: 120s
            """, "c.yaml")
        try installation.start(config: config)
        #expect(try installation.ctl("merchant", "add", "merchant.com.waiting").status == 0)
        _ = try installation.certifiedKey("merchant.com.waiting", "k")
        try installation.apple(
            "mint-token", "--certificate", installation.path("k.cer"), "--out", installation.path("token.json"))
        let minted = try JSONSerialization.jsonObject(
            with: try Data(contentsOf: URL(filePath: installation.path("token.json"))))
        let body: [String: Any] = [
            "paymentData": try #require((minted as? [String: Any])?["paymentData"]),
            "expected": ["merchantIdentifier": "merchant.com.waiting"], "claim": false,
        ]
        try JSONSerialization.data(withJSONObject: body).write(to: URL(filePath: installation.path("body.json")))
        func requestCount() throws -> Int {
            try String(contentsOfFile: installation.path("requests"), encoding: .utf8).split(separator: "\n").count
        }

        try FileManager.default.removeItem(atPath: installation.path("go"))
        let before = try requestCount()
        let commands = [
            ["backup", "create", installation.path("b")], ["master-key", "rotate", "--yes", "--data-key-only"],
        ]
        let waiting = try commands.map { try installation.startCtl($0) }
        try installation.eventually("both operations wait for the master key") { try requestCount() == before + 2 }
        for _ in 1...3 {
            #expect(
                try installation.curl(
                    installation.decryptorSocket, "/v1/payment-tokens/decrypt", "--max-time", "30", "--data-binary",
                    "@\(installation.path("body.json"))"
                ).output == "200")
        }
        #expect(try installation.ctl("status").status == 0)
        #expect(waiting.count { $0.isRunning } == 2)
        _ = try installation.write("", "go")
        for process in waiting {
            #expect(process.wait() == .exited(0))
        }
    }

    @Test func `a master key command that prints a different key each time is refused before anything is sealed`()
        throws
    {
        let config = try installation.write(
            "master-key:\n  source: command\n  command: [/usr/bin/head, -c32, /dev/urandom]\n", "c.yaml")
        let refused = try installation.failedStart("--config", config, "--state-directory", installation.path("state"))
        #expect(refused.status == 1 && refused.error.contains("/usr/bin/head"), "\(refused.error)")
    }
}
