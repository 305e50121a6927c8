import Foundation
import Glibc
import MerchantTestSupport
import Testing

/// What the real daemon reports to systemd.
@Suite struct SystemdNotificationTests {
    @Test func `the daemon reports its start, watchdog signals, a reload and its end, in this order`() throws {
        let installation = try Installation()
        let notify = NotifySocket(installation.path("notify"))
        try installation.start(environment: ["NOTIFY_SOCKET": notify.path, "WATCHDOG_USEC": "400000"])
        /// The messages up to the first one that begins with the text.
        func messages(upTo text: String) throws -> [String] {
            var messages: [String] = []
            while messages.last?.hasPrefix(text) != true {
                messages.append(try #require(notify.next(within: 20), "no \(text) after \(messages)"))
            }
            return messages
        }
        let start = try messages(upTo: "READY=1\nSTATUS=serving")
        #expect(start.first?.hasPrefix("EXTEND_TIMEOUT_USEC=") == true, "\(start)")
        _ = try messages(upTo: "WATCHDOG=1")
        kill(try #require(installation.process), SIGHUP)
        _ = try messages(upTo: "RELOADING=1\nMONOTONIC_USEC=")
        _ = try messages(upTo: "READY=1")
        #expect(installation.stop() == 0)
        _ = try messages(upTo: "STOPPING=1")
    }

    @Test func `the daemon's child programs get no systemd variable for notification, watchdog or sockets`() throws {
        let installation = try Installation()
        let notify = NotifySocket(installation.path("notify"))
        let script = try installation.write(
            "#!/bin/sh\nenv > \(installation.path("variables"))\ncat \(installation.path("key"))\n", "key.sh")
        let created = try Installation.run([
            "sh", "-c",
            "umask 077; cd \(installation.directory); head -c 32 /dev/urandom > key; chmod 700 \(script)",
        ])
        try #require(created.status == 0)
        let config = try installation.write("master-key:\n  source: command\n  command: [\(script)]\n", "c.yaml")
        try installation.start(
            config: config,
            environment: [
                "NOTIFY_SOCKET": notify.path, "WATCHDOG_USEC": "30000000", "LISTEN_PID": "1", "LISTEN_FDS": "1",
                "LISTEN_FDNAMES": "admin",
            ])
        let variables = try String(contentsOfFile: installation.path("variables"), encoding: .utf8)
        #expect(variables.contains("PATH="))
        for name in ["NOTIFY_SOCKET", "WATCHDOG_", "LISTEN_"] { #expect(!variables.contains(name), "\(variables)") }
        #expect(installation.stop() == 0)
    }
}
