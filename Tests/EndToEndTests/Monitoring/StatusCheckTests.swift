import Glibc
import MerchantTestSupport
import Testing

/// `merchantkeyctl status --check`, the check for monitoring systems.
@Suite struct StatusCheckTests {
    let installation: Installation

    init() throws { installation = try Installation() }

    @Test func `a daemon that does not answer is unknown after the timeout`() throws {
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

    @Test(arguments: ["0s", "2h"]) func `a timeout outside 1 s to 1 h is refused`(timeout: String) throws {
        #expect(try installation.ctl("status", "--check", "--timeout", timeout).status == 2)
    }
}
