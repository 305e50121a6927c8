import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

/// Events that report that the newest backup is too old, or that there is none.
@Suite struct OverdueBackupTests {
    @Test func `one backup raises at most one event of each severity, however often it is reported`() async throws {
        let bench = try await Bench()
        func report(_ severity: Event.Severity, since backup: Timestamp?) async throws {
            try await bench.operations.backups.reportOverdue(severity, since: backup, detail: "a backup is overdue")
        }
        func reported() async throws -> [Event.Severity] {
            try await bench.operations.events.events(EventQuery(.after(0), kind: .backupOverdue, limit: 100))
                .map { $0.event.severity }
        }
        for _ in 0..<3 { try await report(.warning, since: nil) }
        #expect(try await reported() == [.warning])
        for _ in 0..<3 { try await report(.critical, since: nil) }
        #expect(try await reported() == [.warning, .critical])
        // A newer backup, which is now also too old.
        for _ in 0..<3 { try await report(.warning, since: bench.clock.now) }
        #expect(try await reported() == [.warning, .critical, .warning])
    }
}
