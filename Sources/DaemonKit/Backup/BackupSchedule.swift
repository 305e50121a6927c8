import Glibc
import Logging
import MerchantCore
import MerchantOperations
import Vocabulary

/// Creates a backup at an interval, verifies it, and removes the oldest beyond the number to keep.
struct BackupSchedule: RecurringTask {
    /// The longest pause until the next check whether a backup is due, or until the next attempt after a failure.
    static let longestPause = Duration.seconds(600)
    /// The name of the newest backup that failed its verification. It is kept because it may be the only backup.
    private static let notGood = "not-good.backup"

    private let settings: BackupSettings
    private let operations: BackupOperations
    private let confirmedTime: ConfirmedTime
    private let caller: Caller
    private let clock: any WallClock
    private let startedAt: Timestamp
    private let conditions: ConditionLog
    private let logger: Logger
    private var hasRemovedLeftovers = false
    /// The machine's uptime when this daemon began its last backup; nil if it has created none. A change of the clock
    /// does not change the uptime, so it cannot make extra backups due, which would replace older ones.
    private var lastCreated: Duration?
    private(set) var nextPause: Duration?

    init(
        settings: BackupSettings, operations: BackupOperations, confirmedTime: ConfirmedTime, caller: Caller,
        clock: any WallClock, startedAt: Timestamp, conditions: ConditionLog, logger: Logger
    ) {
        self.settings = settings
        self.operations = operations
        self.confirmedTime = confirmedTime
        self.caller = caller
        self.clock = clock
        self.startedAt = startedAt
        self.conditions = conditions
        self.logger = logger
    }

    mutating func run() async throws {
        if !hasRemovedLeftovers {
            ScratchDirectory.removeLeftovers(in: settings.directory)
            hasRemovedLeftovers = true
        }
        nextPause = try await createIfDue()
    }

    /// - Returns: how long to wait for the next check.
    private mutating func createIfDue() async throws -> Duration {
        let retry = min(settings.every, Self.longestPause)
        var last: Timestamp?
        do {
            if let lastCreated, clock.uptime < lastCreated + settings.every {
                return min(lastCreated + settings.every - clock.uptime, retry)
            }
            // A time in the future comes from a wrong clock and must not delay the next backup.
            last = try await operations.lastVerified()
                .flatMap { $0 > clock.now ? nil : $0 }
            if let last, last.adding(settings.every) > clock.now {
                return min(Self.pause(until: last.adding(settings.every), clock.now), retry)
            }
            let began = clock.uptime
            try await create()
            lastCreated = began
            conditions.clear(.backupFailed)
            conditions.clear(.backupOverdue)
        } catch let error as CancellationError {
            throw error
        } catch {
            let reason = (error as? MerchantError)?.detail ?? "\(error)"
            logger.error("the backup failed", metadata: ["error": "\(reason)"])
            conditions.set(.backupFailed, .warning, "the last backup failed at \(clock.now): \(reason)")
            await reportAge(of: last)
        }
        return retry
    }

    private static func pause(until time: Timestamp, _ now: Timestamp) -> Duration {
        .milliseconds(max(10, time.millisecondsSince1970 - now.millisecondsSince1970))
    }

    private func create() async throws {
        let name = BackupRetention.name(at: clock.now)
        let path = "\(settings.directory)/\(name)"
        let request = Request(caller: caller, requestId: "schedule")
        _ = try await operations.createBackup(at: path, for: request)
        let verification: BackupVerificationResult
        do { verification = try await operations.verifyBackup(path, for: request) } catch {
            // A backup that could not be verified is removed. It would fill the disk, and count as one of the backups
            // to keep.
            unlink(path)
            throw error
        }
        guard verification.findings.isEmpty else {
            let aside = "\(settings.directory)/\(Self.notGood)"
            let isKept = rename(path, aside) == 0
            if !isKept { unlink(path) }
            throw MerchantError(
                .backupFailed,
                "the backup failed its verification and is \(isKept ? "kept as \(aside) until the next one" : "removed"): \(verification.findings[0])"
            )
        }
        logger.info("backup created and verified", metadata: ["file": "\(path)", "seconds": "\(verification.seconds)"])
        removeOldest(keeping: name)
    }

    /// Reports a warning if no verified backup was created for twice the interval, and a critical finding after four
    /// times.
    private func reportAge(of last: Timestamp?) async {
        let since = last ?? startedAt
        let now = clock.now
        guard now > since.adding(settings.every * 2) else { return conditions.clear(.backupOverdue) }
        let isCritical = now > since.adding(settings.every * 4)
        let detail =
            last.map { "the last verified backup was created at \($0), expected one every \(settings.every)" }
            ?? "there is no verified backup yet, expected one every \(settings.every)"
        conditions.set(.backupOverdue, isCritical ? .critical : .warning, detail)
        do {
            try await operations.reportOverdue(isCritical ? .critical : .warning, since: last, detail: detail)
        } catch { logger.error("the event backupOverdue could not be stored", metadata: ["error": "\(error)"]) }
    }

    /// Removes the oldest of the files whose names have the form of ``BackupRetention/name(at:)``. Files with a time in
    /// the future come from a wrong clock or another machine. They are neither counted nor removed.
    ///
    /// - Parameter newest: the backup that was just created, which is always kept.
    private func removeOldest(keeping newest: String) {
        let scheduled = BackupRetention.backups(among: DirectoryListing.names(in: settings.directory))
        let later = scheduled.filter { $0 > newest }
        if !later.isEmpty {
            logger.warning(
                "backups with a time in the future are not counted and not removed",
                metadata: ["files": "\(later.prefix(5))"])
        }
        let expired = BackupRetention(keep: settings.keep, every: settings.every)
            .expired(among: scheduled.filter { $0 <= newest }, at: confirmedTime.reading().earliest)
        for name in expired { unlink("\(settings.directory)/\(name)") }
    }
}
