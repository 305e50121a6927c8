import Glibc
import Logging
import MerchantCore
import MerchantOperations
import Vocabulary

/// Creates and verifies a backup at an interval, and removes old backups. Creates none while the settings define no
/// scheduled backups, or while this daemon is not the leader.
///
/// A round uses the settings with which it began. A reload takes effect in the next round.
struct BackupSchedule: RecurringTask {
    /// How often a daemon that is not the leader checks whether it has become the leader.
    private static let pauseOfOthers = Duration.seconds(5)
    /// The longest pause before the task checks again whether a backup is due, or repeats a backup that failed.
    static let longestPause = Duration.seconds(600)
    /// The name of the newest backup that failed its verification. That backup is kept because it may be the only one.
    private static let failedBackupName = "scheduled" + BackupOperations.notGoodSuffix

    private let settings: CurrentValue<BackupSettings?>
    /// Only with this lease does the daemon create backups.
    private let lease: Lease
    private let operations: BackupOperations
    private let confirmedTime: ConfirmedTime
    private let caller: Caller
    private let clock: any WallClock
    private let startedAt: Timestamp
    private let activeFindings: ActiveFindings
    private let logger: Logger
    private var isFirstRound = true
    /// The machine's uptime when this daemon began its last verified backup; nil if it has created none. A change of
    /// the clock does not affect the uptime, so such a change cannot cause extra backups, which would replace older
    /// ones.
    private var uptimeAtLastBackup: Duration?
    private(set) var nextPause: Duration?

    init(
        settings: CurrentValue<BackupSettings?>, lease: Lease = .unlimited, operations: BackupOperations,
        confirmedTime: ConfirmedTime,
        caller: Caller, clock: any WallClock, startedAt: Timestamp, activeFindings: ActiveFindings, logger: Logger
    ) {
        self.settings = settings
        self.lease = lease
        self.operations = operations
        self.confirmedTime = confirmedTime
        self.caller = caller
        self.clock = clock
        self.startedAt = startedAt
        self.activeFindings = activeFindings
        self.logger = logger
    }

    mutating func run() async throws {
        guard let settings = settings.value, lease.isValid else {
            // A reload may have disabled scheduled backups, or another daemon may have become the leader.
            activeFindings.clear(.backupFailed)
            activeFindings.clear(.backupOverdue)
            nextPause = lease.isUnlimited ? Self.longestPause : Self.pauseOfOthers
            return
        }
        // In later rounds, a directory with the name of a leftover may belong to a verification in progress.
        if isFirstRound { ScratchDirectory.removeLeftovers(in: settings.directory) }
        isFirstRound = false
        nextPause = try await createIfDue(settings)
    }

    /// - Returns: how long to wait before the next call.
    private mutating func createIfDue(_ settings: BackupSettings) async throws -> Duration {
        let maximumPause = min(settings.interval, Self.longestPause)
        var coverage = BackupCoverage()
        do {
            if let uptimeAtLastBackup, clock.uptime < uptimeAtLastBackup + settings.interval {
                return min(uptimeAtLastBackup + settings.interval - clock.uptime, maximumPause)
            }
            // Uses the later of the machine's time and the confirmed time. Otherwise, if the machine's clock is behind,
            // existing backups would have a time in the future.
            coverage = try await operations.backupCoverage(at: confirmedTime.reading().latest)
            // A time in the future is from a wrong clock, and is ignored so that it does not delay the next backup.
            if let last = coverage.newestVerifiedCreatedAt, last <= clock.now,
                last.adding(settings.interval) > clock.now
            {
                return min(Self.pause(until: last.adding(settings.interval), clock.now), maximumPause)
            }
            let began = clock.uptime
            try await create(settings)
            uptimeAtLastBackup = began
            activeFindings.clear(.backupFailed)
            activeFindings.clear(.backupOverdue)
        } catch let error as CancellationError {
            throw error
        } catch {
            let reason = (error as? MerchantError)?.detail ?? "\(error)"
            logger.error("the backup failed", metadata: ["error": "\(reason)"])
            activeFindings.set(.backupFailed, .warning, "the last backup failed at \(clock.now): \(reason)")
            await reportAge(of: coverage, settings)
        }
        return maximumPause
    }

    private static func pause(until time: Timestamp, _ now: Timestamp) -> Duration {
        .milliseconds(max(10, time.millisecondsSince1970 - now.millisecondsSince1970))
    }

    private func create(_ settings: BackupSettings) async throws {
        let name = BackupRetention.name(at: clock.now)
        let path = "\(settings.directory)/\(name)"
        let request = Request(caller: caller, requestId: "schedule")
        _ = try await operations.createBackup(at: path, for: request)
        let verification: BackupVerificationResult
        do { verification = try await operations.verifyBackup(path, for: request) } catch {
            // Removes the unverified backup, which would fill the disk and be counted as one of the backups to keep.
            unlink(path)
            throw error
        }
        guard verification.findings.isEmpty else {
            let keptPath = "\(settings.directory)/\(Self.failedBackupName)"
            let isKept = rename(path, keptPath) == 0
            if !isKept { unlink(path) }
            throw MerchantError(
                .backupFailed,
                "the backup failed its verification and is \(isKept ? "kept as \(keptPath) until the next backup fails" : "removed"): \(verification.findings[0])"
            )
        }
        logger.info("backup created and verified", metadata: ["file": "\(path)", "seconds": "\(verification.seconds)"])
        removeExpired(keeping: name, settings)
    }

    /// Reports a warning if the last verified backup is older than two intervals, and a critical finding if it is older
    /// than four. If there is no verified backup, or if its age is unknown, the time since the daemon's start is used
    /// instead. An unknown age is at least a warning.
    private func reportAge(of coverage: BackupCoverage, _ settings: BackupSettings) async {
        let last = coverage.newestVerifiedCreatedAt
        let since = last ?? startedAt
        let now = clock.now
        let isAgeUnknown = last == nil && coverage.hasVerifiedBackup
        guard isAgeUnknown || now > since.adding(settings.interval * 2) else {
            return activeFindings.clear(.backupOverdue)
        }
        let isCritical = now > since.adding(settings.interval * 4)
        let found =
            last.map { "the last verified backup was created at \($0)" }
            ?? coverage.verifiedInFuture.map {
                "the last verified backup has a time in the future, \($0), because it was created while the clock was ahead, so its age is unknown"
            } ?? "there is no verified backup yet"
        let detail = "\(found), but a backup is due every \(settings.interval)"
        activeFindings.set(.backupOverdue, isCritical ? .critical : .warning, detail)
        do {
            try await operations.reportOverdue(isCritical ? .critical : .warning, since: last, detail: detail)
        } catch { logger.error("the event backupOverdue could not be stored", metadata: ["error": "\(error)"]) }
    }

    /// Removes old backups: only files whose names have the prefix and suffix of ``BackupRetention/name(at:)``. Files
    /// with a time in the future are from a wrong clock or another machine, and are neither counted nor removed.
    ///
    /// - Parameter newest: the backup that was just created, which is always kept.
    private func removeExpired(keeping newest: String, _ settings: BackupSettings) {
        let scheduled = BackupRetention.backups(among: DirectoryListing.names(in: settings.directory))
        let later = scheduled.filter { $0 > newest }
        if !later.isEmpty {
            logger.warning(
                "backups with a time in the future are not counted and not removed",
                metadata: ["files": "\(later.prefix(5))"])
        }
        let expired = BackupRetention(keep: settings.keep, interval: settings.interval)
            .expired(among: scheduled.filter { $0 <= newest }, at: confirmedTime.reading().earliest)
        for name in expired { unlink("\(settings.directory)/\(name)") }
    }
}
