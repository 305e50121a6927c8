import Foundation
import Testing

/// The checker of `scripts/cluster-test` finds histories that are wrong.
@Suite struct ClusterHistoryTests {
    @Test(.enabled(if: Installation.hasPythonSQLite, "needs python3"))
    func `each rule finds a made-up history that breaks it, and accepts one that does not`() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../scripts/cluster/test_history.py")
        let outcome = try Installation.run(["python3", "-B", tests.standardized.path])
        #expect(outcome.status == 0 && outcome.error.contains("Ran 5 tests"), "\(outcome.error)")
    }
}
