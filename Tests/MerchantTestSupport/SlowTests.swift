import Foundation
package import Testing

/// How much of the tests this run wants.
package enum TestRun {
    /// Without slow tests, and with fewer random cases; `scripts/test` without arguments asks for it.
    package static let isQuick = ProcessInfo.processInfo.environment["MERCHANTKEYD_QUICK_TESTS"] == "1"
}

extension Tag {
    /// Takes more than five seconds by nature: kills, power failures, years of simulated time, real time limits.
    @Tag package static var slow: Self
}

extension Trait where Self == ConditionTrait {
    /// For tests tagged ``Testing/Tag/slow``: `scripts/test` skips them; `scripts/test --all` and `scripts/test --filter` run them.
    package static var skippedInQuickRuns: Self {
        .disabled(if: TestRun.isQuick, "slow: scripts/test --all runs it")
    }
}
