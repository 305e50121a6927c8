import Foundation
package import Testing

extension Tag {
    /// Takes more than five seconds: kills, power failures, years of simulated time, real time limits.
    @Tag package static var slow: Self
}

extension Trait where Self == ConditionTrait {
    /// For tests tagged ``Tag/slow``: `scripts/test` skips them, `scripts/test --all` and `scripts/test --filter` run them.
    package static var skippedInQuickRuns: Self {
        .disabled(
            if: ProcessInfo.processInfo.environment["MERCHANTKEYD_QUICK_TESTS"] == "1",
            "slow: scripts/test --all runs it")
    }
}
