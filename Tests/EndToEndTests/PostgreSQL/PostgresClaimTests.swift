import Glibc
import MerchantTestSupport
import Testing

/// A payment token can be claimed once, on all daemons that share a PostgreSQL database.
@Suite struct PostgresClaimTests {
    @Test(.tags(.slow), .skippedInQuickRuns)
    func
        `each of 1,000 tokens that 64 processes claim on three daemons at the same time is claimed exactly once, even if a daemon is killed`()
        throws
    {
        let postgres = try PostgresInstallation()
        let (second, third) = (try Installation(), try Installation())
        try postgres.start(with: ["two": second, "three": third], "log:\n  level: warning")
        _ = try postgres.onboard()
        let report = try ClaimReport.ofConcurrentClaims(
            of: postgres.installation.mintTokens(1000, for: "first"), for: PostgresInstallation.merchant,
            on: [postgres.installation, second, third]
        ) {
            third.stop(SIGKILL)
            try third.start(config: postgres.installation.path("three.yaml"))
        }
        #expect(report == .eachClaimedOnce(1000))
        #expect(try second.ctl("audit", "verify").status == 0)
    }
}
