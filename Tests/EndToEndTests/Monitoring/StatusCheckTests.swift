import Glibc
import MerchantTestSupport
import Testing

/// `merchantkeyctl status --check`, the check for monitoring systems.
@Suite struct StatusCheckTests {
    let installation: Installation

    init() throws { installation = try Installation() }

    @Test func `status --check has the result UNKNOWN if the daemon does not respond within the timeout`() throws {
        try installation.start()
        #expect([0, 1].contains(try installation.checkStatus()))
        let process = try #require(installation.process)
        kill(process, SIGSTOP)
        defer { kill(process, SIGCONT) }
        let begin = ContinuousClock.now
        let checked = try installation.ctl("status", "--check", "--timeout", "1s")
        // Without the option, the check takes 10 s.
        #expect(ContinuousClock.now - begin < .seconds(8))
        #expect(checked.status == 3 && checked.output.contains("UNKNOWN"), "\(checked.output)")
    }

    /// For wrong usage, other commands exit with status 2, which a monitoring system would treat as critical.
    @Test(arguments: [["--timeout", "0s"], ["--timeout", "2h"], ["--timeout", "2"], ["--no-such-option"]])
    func `wrong usage of status --check has the result UNKNOWN, not critical`(options: [String]) throws {
        let program = ["\(Installation.programs)/merchantkeyctl", "--socket", installation.adminSocket]
        let checked = try Installation.run(program + ["status", "--check"] + options)
        #expect(checked.status == 3 && checked.output.hasPrefix("merchantkeyd UNKNOWN: "), "\(checked.output)")
        let json = try Installation.run(program + ["--output", "json", "status", "--check"] + options)
        #expect(json.status == 3 && json.error.contains("\"exitStatus\":3"), "\(json.error)")
        #expect(try Installation.run(program + ["status"] + options).status == 2)
    }
}
