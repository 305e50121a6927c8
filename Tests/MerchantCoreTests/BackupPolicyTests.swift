import MerchantCore
import Testing
import Vocabulary

/// When keys that are in no verified backup are reported.
@Suite struct BackupPolicyTests {
    private static let begin = Timestamp(millisecondsSince1970: 1_800_000_000_000)

    private static func after(_ days: Int) -> Timestamp { begin.adding(.seconds(days * 86_400)) }

    private static var policy: BackupPolicy {
        var policy = BackupPolicy()
        (policy.warningAfter, policy.criticalAfter) = (.zero, .seconds(7 * 86_400))
        return policy
    }

    private static func coverage(newestVerifiedCreatedAt: Timestamp? = nil, since: Timestamp? = begin) -> BackupCoverage
    {
        var coverage = BackupCoverage()
        (coverage.newestVerifiedCreatedAt, coverage.notBackedUpSince) = (newestVerifiedCreatedAt, since)
        return coverage
    }

    @Test func `without a key that has a certificate, no backup is needed`() {
        #expect(Self.policy.severity(of: Self.coverage(since: nil), at: Self.after(100)) == nil)
    }

    @Test func `no backup is a warning at once and critical after seven days`() {
        let severities = [0, 6, 7, 100].map { Self.policy.severity(of: Self.coverage(), at: Self.after($0)) }
        #expect(severities == [.warning, .warning, .critical, .critical])
    }

    @Test func `without scheduled backups, a key that is in no backup is critical after seven days`() {
        let severities = [0, 6, 7].map {
            Self.policy.severity(of: Self.coverage(newestVerifiedCreatedAt: Self.begin), at: Self.after($0))
        }
        #expect(severities == [nil, nil, .critical])
    }

    @Test func `with scheduled backups, keys are reported only until the first verified backup`() {
        var policy = Self.policy
        policy.isScheduled = true
        #expect(policy.severity(of: Self.coverage(), at: Self.after(0)) == .warning)
        #expect(policy.severity(of: Self.coverage(newestVerifiedCreatedAt: Self.begin), at: Self.after(100)) == nil)
    }

    @Test func `a verified backup counts although its time is in the future`() {
        var coverage = Self.coverage()
        coverage.verifiedInFuture = Self.after(40)
        #expect(coverage.hasVerifiedBackup)
        #expect(Self.policy.severity(of: coverage, at: Self.after(0)) == nil)
    }

    @Test func `a policy without times reports nothing`() {
        #expect(BackupPolicy().severity(of: Self.coverage(), at: Self.after(100)) == nil)
    }
}
