import Foundation
import MerchantTestSupport
import Testing

/// Restarts while decryptors send requests. The sockets stay open meanwhile, as with systemd's socket units.
@Suite struct RestartTests {
    @Test(.tags(.slow), .enabled(if: Installation.hasPythonSQLite, "needs python3"))
    func `a restart under load fails no request`() throws {
        let restarts = TestRun.isQuick ? 3 : 20
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../scripts/restart-test")
        let outcome = try Installation.run([
            script.standardized.path, "--program-directory", Installation.programs, "\(restarts)",
        ])
        #expect(outcome.status == 0, "\(outcome.error)")
        let figures = try outcome.json()
        #expect(figures["restarts"] as? Int == restarts)
        #expect(figures["failed"] as? Int == 0, "\(outcome.output)")
        #expect(try #require(figures["answered"] as? Int) > restarts * 16)
    }
}
