import Foundation
package import Testing

/// Which tests this run includes.
package enum TestRun {
    /// Without the tests ``skippedInQuickRuns``, and with fewer random cases, as in `scripts/test` without arguments.
    package static let isQuick = ProcessInfo.processInfo.environment["MERCHANTKEYD_QUICK_TESTS"] == "1"
}

extension Tag {
    /// A test that takes more than five seconds: kills, power failures, years of simulated time, real time limits.
    @Tag package static var slow: Self
}

extension Trait where Self == ConditionTrait {
    /// For tests tagged ``Testing/Tag/slow``: `scripts/test` skips them; `scripts/test --all` and `scripts/test
    /// --filter` run them.
    package static var skippedInQuickRuns: Self {
        .disabled(if: TestRun.isQuick, "slow: scripts/test --all runs it")
    }
}
