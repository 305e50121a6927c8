import MerchantTestSupport
import Testing

/// The log at its most detailed level.
@Suite struct DebugLogTests {
    @Test func `at the level debug, the log names the services and does not show what they contain`() throws {
        let installation = try Installation()
        try installation.start(config: installation.write("log:\n  level: debug\n", "debug.yaml"))
        installation.stop()
        let lines = installation.log.split(separator: "\n")
        let services = lines.filter { $0.contains("sl-service") }
        #expect(services.contains { $0.contains("DecryptorServer") })
        #expect(services.allSatisfy { !$0.contains("SQLiteStore.") && $0.utf8.count < 4_096 }, "\(services)")
    }
}
