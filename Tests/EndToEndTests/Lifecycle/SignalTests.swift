import Foundation
import Glibc
import MerchantTestSupport
import Testing

/// What signals do to the daemon.
@Suite struct SignalTests {
    private let installation: Installation

    init() throws { installation = try Installation() }

    @Test func `SIGHUP, SIGUSR1 and SIGUSR2 do not end the daemon`() throws {
        try installation.start()
        let process = try #require(installation.process)
        kill(process, SIGHUP)
        for (signal, name) in [(SIGUSR1, "SIGUSR1"), (SIGUSR2, "SIGUSR2")] {
            kill(process, signal)
            try installation.eventually("the signal is logged") { installation.log.contains("signal=\(name)") }
        }
        #expect(try installation.curl(installation.decryptorSocket, "/v1/health").output == "200")
        #expect(installation.stop() == 0)
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGQUIT])
    func `SIGTERM, SIGINT and SIGQUIT end the daemon cleanly`(signal: CInt) throws {
        try installation.start()
        #expect(installation.stop(signal) == 0)
        #expect(installation.log.contains("merchantkeyd ended"))
    }

    @Test func `signals that arrive while the daemon starts do not end it`() throws {
        try installation.createStateDirectory()
        // The start waits for this command.
        let script = try installation.write(
            "#!/bin/sh\ncd \(installation.directory)\n: > waiting\nwhile [ -e hold ]; do sleep 0.01; done\ncat key\n",
            "key.sh")
        let created = try Installation.run([
            "sh", "-c",
            "umask 077; cd \(installation.directory); : > hold; head -c 32 /dev/urandom > key; chmod 700 key.sh",
        ])
        try #require(created.status == 0)
        let config = try installation.write("master-key:\n  source: command\n  command: [\(script)]\n", "c.yaml")
        let daemon = try ChildProcess(
            [
                "\(Installation.programs)/merchantkeyd", "--state-directory", installation.stateDirectory, "--config",
                config,
            ], error: .file(installation.path("daemon.log")))
        defer { daemon.killAndWait() }
        try installation.eventually("the start waits") {
            FileManager.default.fileExists(atPath: installation.path("waiting")) || !daemon.isRunning
        }
        for signal in [SIGHUP, SIGUSR1, SIGUSR2] { daemon.signal(signal) }
        try FileManager.default.removeItem(atPath: installation.path("hold"))
        try installation.eventually("the daemon serves", within: .seconds(20)) {
            try installation.curl(installation.adminSocket, "/v1/health").output == "200" || !daemon.isRunning
        }
        // The signals were kept until the daemon could handle them.
        try installation.eventually("the signal is logged") { installation.log.contains("signal=SIGUSR1") }
        daemon.signal(SIGTERM)
        #expect(daemon.wait() == .exited(0))
    }
}
