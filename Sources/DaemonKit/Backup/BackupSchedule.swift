import Glibc
import Logging
import MerchantCore
import MerchantOperations
import ServiceLifecycle
import Vocabulary

/// Makes a backup at an interval, tries it out, and removes the oldest beyond the number that is kept.
struct BackupSchedule: Service {
    /// How long after a failure the next attempt is made, at most.
    private static let secondsUntilRetry = 600
    /// The newest one in which something was found: better than none.
    private static let notGood = "not-good.backup"

    let settings: Settings.BackupSettings?
    let operations: BackupOperations
    let confirmedTime: ConfirmedTime
    let caller: Caller
    let clock: any WallClock
    let startedAt: Timestamp
    let conditions: ConditionLog
    let logger: Logger

    func run() async throws {
        guard let settings else { return try await gracefulShutdown() }
        ScratchDirectory.removeLeftovers(in: settings.directory)
        // A daemon that stops cancels the wait; half a backup has another name and is removed.
        try? await cancelWhenGracefulShutdown {
            var lastMade: Duration?
            while !Task.isCancelled {
                let pause = await work(settings, &lastMade)
                try await Task.sleep(for: pause)
            }
        }
    }

    /// - Parameter lastMade: the machine's uptime when this run made its last backup. A clock that was set makes no backup due:
    ///   each would replace an older one.
    /// - Returns: how long to wait for the next check.
    private func work(_ settings: Settings.BackupSettings, _ lastMade: inout Duration?) async -> Duration {
        let retry = min(settings.every, .seconds(Self.secondsUntilRetry))
        var last: Timestamp?
        do {
            if let lastMade, clock.uptime < lastMade + settings.every {
                return min(lastMade + settings.every - clock.uptime, retry)
            }
            // One of a time to come is of a clock that was wrong: it must not keep the next from being made.
            last = try await operations.lastVerified()
                .flatMap { $0 > clock.now ? nil : $0 }
            if let last, last.adding(settings.every) > clock.now {
                return min(Self.pause(until: last.adding(settings.every), clock.now), retry)
            }
            let began = clock.uptime
            try await make(settings)
            lastMade = began
            conditions.clear(.backupFailed)
            conditions.clear(.backupOverdue)
            return retry
        } catch is CancellationError {
            return .zero
        } catch {
            let why = (error as? MerchantError)?.detail ?? "\(error)"
            logger.error("the backup failed", metadata: ["error": "\(why)"])
            conditions.set(.backupFailed, .warning, "the last backup failed at \(clock.now): \(why)")
            await judgeAge(of: last, settings)
            return retry
        }
    }

    private static func pause(until moment: Timestamp, _ now: Timestamp) -> Duration {
        .milliseconds(max(10, moment.millisecondsSince1970 - now.millisecondsSince1970))
    }

    private func make(_ settings: Settings.BackupSettings) async throws {
        let name = BackupRetention.name(at: clock.now)
        let path = "\(settings.directory)/\(name)"
        let request = Request(caller: caller, requestId: "schedule")
        _ = try await operations.createBackup(at: path, for: request)
        let verification: BackupVerificationResult
        do { verification = try await operations.verifyBackup(path, for: request) } catch {
            // Only good ones are kept and counted: those that nobody could try out would fill the disk and take their place.
            unlink(path)
            throw error
        }
        guard verification.findings.isEmpty else {
            let aside = "\(settings.directory)/\(Self.notGood)"
            let isKept = rename(path, aside) == 0
            if !isKept { unlink(path) }
            throw MerchantError(
                .backupFailed,
                "the backup is not good, and is \(isKept ? "kept as \(aside) until the next" : "removed"): \(verification.findings[0])"
            )
        }
        logger.info("backup made and tried out", metadata: ["file": "\(path)", "seconds": "\(verification.seconds)"])
        removeOldest(settings, than: name)
    }

    /// Twice the interval without a good backup is a warning, four times is critical.
    private func judgeAge(of last: Timestamp?, _ settings: Settings.BackupSettings) async {
        let since = last ?? startedAt
        let now = clock.now
        guard now > since.adding(settings.every * 2) else { return conditions.clear(.backupOverdue) }
        let isCritical = now > since.adding(settings.every * 4)
        let detail =
            last.map { "the last good backup is of \($0), expected one every \(settings.every)" }
            ?? "there is no good backup yet, expected one every \(settings.every)"
        conditions.set(.backupOverdue, isCritical ? .critical : .warning, detail)
        do {
            try await operations.reportOverdue(isCritical ? .critical : .warning, since: last, detail: detail)
        } catch { logger.error("an event could not be stored", metadata: ["error": "\(error)"]) }
    }

    /// Only files that the schedule named. Those from the future, made when the clock was wrong or copied there, are not counted
    /// and stay.
    ///
    /// - Parameter newest: the one that was just made, which is always kept.
    private func removeOldest(_ settings: Settings.BackupSettings, than newest: String) {
        let ours = BackupRetention.backups(among: DirectoryListing.names(in: settings.directory))
        let later = ours.filter { $0 > newest }
        if !later.isEmpty {
            logger.warning(
                "backups of a time to come are not counted and not removed", metadata: ["files": "\(later.prefix(5))"])
        }
        let expired = BackupRetention(keep: settings.keep, every: settings.every)
            .expired(among: ours.filter { $0 <= newest }, at: confirmedTime.reading().earliest)
        for name in expired { unlink("\(settings.directory)/\(name)") }
    }
}
