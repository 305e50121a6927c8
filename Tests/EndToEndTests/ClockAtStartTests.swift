import Foundation
import Testing

/// The daemon starts, and the machine's clock is not where the last run left it.
@Suite(.enabled(if: (try? Installation.run(["python3", "-c", "import sqlite3"]).status) == 0, "needs python3"))
struct ClockAtStartTests {
    @Test(arguments: [true, false])
    func `a key is destroyed at start only if the confirmed time agrees with the clock`(isConfirmed: Bool) throws {
        let installation = try Installation()
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.example").status == 0)
        let key = try #require(
            try installation.ctlJSON("key", "generate", "merchant.com.example", "--csr", installation.path("csr"))[
                "publicKeyHash"] as? String)
        #expect(try installation.ctl("key", "revoke", key, "--reason", "spare", "--yes").status == 0)
        #expect(try installation.ctl("key", "destroy", key, "--after", "1s", "--yes").status == 0)
        installation.stop()

        let now = Int(Date().timeIntervalSince1970 * 1000)
        let stored = try installation.sql("SELECT value FROM daemon_facts WHERE name = 'confirmedTime'")
        let time = try #require(stored.split { !$0.isNumber }.first.flatMap { Int($0) }, "\(stored)")
        #expect((now - 60_000...now).contains(time))
        if !isConfirmed {
            // As if the clock had jumped 31 days ahead while the machine was off.
            let last = now - 31 * 86_400_000
            _ = try installation.sql("UPDATE daemon_facts SET value = '\(last)' WHERE name = 'confirmedTime'")
        }
        Thread.sleep(until: Date(timeIntervalSince1970: Double(now) / 1000 + 1))
        try installation.start()

        func findings() throws -> [[String: Any]] {
            try #require(try installation.ctlJSON("status")["findings"] as? [[String: Any]])
                .filter { $0["code"] as? String == "clockUnconfirmed" }
        }
        func state() throws -> String? { try installation.ctlJSON("key", "show", key)["state"] as? String }
        if isConfirmed {
            try installation.eventually("the key is destroyed") { try state() == "destroyed" }
            #expect(try findings().isEmpty)
        } else {
            try installation.eventually("the difference is reported") { try !findings().isEmpty }
            let finding = try #require(try findings().first)
            #expect(finding["severity"] as? String == "warning")
            #expect((finding["detail"] as? String)?.contains("31 days 0 hours") == true, "\(finding)")
            #expect(try installation.ctl("status", "--check").status >= 1)
            #expect(try state() == "revoked")
            // An admin does not have to wait.
            #expect(try installation.ctl("key", "destroy", key, "--after", "0s", "--yes").status == 0)
            #expect(try state() == "destroyed")
        }
    }
}
