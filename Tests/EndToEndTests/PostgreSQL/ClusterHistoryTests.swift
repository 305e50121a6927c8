import Foundation
import Testing

/// The checker of `scripts/cluster-test` finds histories, deliveries and audit records that are wrong.
@Suite struct ClusterHistoryTests {
    @Test(.enabled(if: Installation.hasPythonSQLite, "needs python3"))
    func `each rule detects an invented history that breaks it, and accepts one that does not`() throws {
        let cluster = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../scripts/cluster"
        ).standardized.path
        let outcome = try Installation.run(["python3", "-B", "-m", "unittest", "discover", "-s", cluster])
        #expect(outcome.status == 0 && outcome.error.contains("Ran 24 tests"), "\(outcome.error)")
    }
}
