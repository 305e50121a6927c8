import Foundation
import Testing

/// A start after the machine's clock was changed.
@Suite(.enabled(if: Installation.hasPythonSQLite, "python3 is not installed"))
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
        let stored = try installation.sql("SELECT value FROM daemon_values WHERE name = 'confirmedTime'")
        let time = try #require(stored.split { !$0.isNumber }.first.flatMap { Int($0) }, "\(stored)")
        #expect((now - 60_000...now).contains(time))
        if !isConfirmed {
            // As if the clock was set 31 days ahead while the machine was off.
            let last = now - 31 * 86_400_000
            _ = try installation.sql("UPDATE daemon_values SET value = '\(last)' WHERE name = 'confirmedTime'")
        }
        Installation.wait(until: Date(timeIntervalSince1970: Double(now) / 1000 + 1))
        try installation.start()

        func state() throws -> String? { try installation.ctlJSON("key", "show", key)["state"] as? String }
        if isConfirmed {
            try installation.eventually("the key is destroyed") { try state() == "destroyed" }
            #expect(try installation.finding("clockUnconfirmed") == nil)
        } else {
            try installation.eventually("the difference is reported") {
                try installation.finding("clockUnconfirmed") != nil
            }
            let finding = try #require(try installation.finding("clockUnconfirmed"))
            #expect(finding["severity"] as? String == "warning")
            #expect((finding["detail"] as? String)?.contains("31 days 0 hours") == true, "\(finding)")
            #expect(try installation.ctl("status", "--check").status >= 1)
            #expect(try state() == "revoked")
            // An admin can destroy the key at once.
            #expect(try installation.ctl("key", "destroy", key, "--after", "0s", "--yes").status == 0)
            #expect(try state() == "destroyed")
        }
    }
}
