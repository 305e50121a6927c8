import Glibc
import Logging
import MerchantCore
import MerchantOperations
import ServiceLifecycle
import Vocabulary

/// Creates and verifies a backup at an interval, and removes the oldest ones.
struct BackupSchedule: Service {
    /// The longest time between a failure and the next attempt.
    private static let secondsUntilRetry = 600
    /// The newest backup that failed verification: better than none.
    private static let failedName = "not-good.backup"

    let settings: BackupSettings?
    let operations: MerchantOperations
    let caller: Caller
    let clock: any WallClock
    let startedAt: Timestamp
    let conditions: ConditionLog
    let logger: Logger

    func run() async throws {
        guard let settings else { return try await gracefulShutdown() }
        ScratchDirectory.removeLeftovers(in: settings.directory)
        // A shutdown cancels the wait. An incomplete backup has another name and is removed at the next start.
        try? await cancelWhenGracefulShutdown {
            var lastMade: Duration?
            while !Task.isCancelled {
                let pause = await work(settings, &lastMade)
                try await Task.sleep(for: pause)
            }
        }
    }

    /// - Parameter lastMade: the machine's uptime when this daemon created its last backup. Setting the clock must not make a backup
    ///   due, because each one replaces an older one.
    /// - Returns: how long to wait for the next check.
    private func work(_ settings: BackupSettings, _ lastMade: inout Duration?) async -> Duration {
        let retry = min(settings.every, .seconds(Self.secondsUntilRetry))
        var last: Timestamp?
        do {
            if let lastMade, clock.uptime < lastMade + settings.every {
                return min(lastMade + settings.every - clock.uptime, retry)
            }
            // A backup from the future was created with a wrong clock: it must not delay the next one.
            last = try await operations.repository.read { try $0.backupCoverage() }.lastVerified
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
            await checkAge(of: last, settings)
            return retry
        }
    }

    private static func pause(until time: Timestamp, _ now: Timestamp) -> Duration {
        .milliseconds(max(10, time.millisecondsSince1970 - now.millisecondsSince1970))
    }

    private func make(_ settings: BackupSettings) async throws {
        let name = BackupRetention.name(at: clock.now)
        let path = "\(settings.directory)/\(name)"
        let request = Request(caller: caller, requestId: "schedule")
        _ = try await operations.createBackup(at: path, for: request)
        let verification: BackupVerificationResult
        do { verification = try await operations.verifyBackup(path, for: request) } catch {
            unlink(path)
            throw error
        }
        guard verification.findings.isEmpty else {
            let aside = "\(settings.directory)/\(Self.failedName)"
            let isKept = rename(path, aside) == 0
            if !isKept { unlink(path) }
            throw MerchantError(
                .backupFailed,
                "the backup failed verification and was \(isKept ? "kept as \(aside) until the next failure" : "removed"): \(verification.findings[0])"
            )
        }
        logger.info("backup created and verified", metadata: ["file": "\(path)", "seconds": "\(verification.seconds)"])
        removeOldest(settings, than: name)
    }

    /// Twice the interval without a verified backup is a warning, four times is critical.
    private func checkAge(of last: Timestamp?, _ settings: BackupSettings) async {
        let since = last ?? startedAt
        let now = clock.now
        guard now > since.adding(settings.every * 2) else { return conditions.clear(.backupOverdue) }
        let isCritical = now > since.adding(settings.every * 4)
        let detail =
            last.map { "the last verified backup was created at \($0), expected one every \(settings.every)" }
            ?? "there is no verified backup yet, expected one every \(settings.every)"
        conditions.set(.backupOverdue, isCritical ? .critical : .warning, detail)
        do {
            try await operations.tellBackupOverdue(isCritical ? .critical : .warning, since: last, detail: detail)
        } catch { logger.error("an event could not be stored", metadata: ["error": "\(error)"]) }
    }

    /// Only files that the schedule named. Backups from the future, created with a wrong clock or copied there, are not counted and
    /// not removed.
    ///
    /// - Parameter newest: the one that was just created, which is always kept.
    private func removeOldest(_ settings: BackupSettings, than newest: String) {
        let ours = BackupRetention.backups(among: DirectoryListing.names(in: settings.directory))
        let later = ours.filter { $0 > newest }
        if !later.isEmpty {
            logger.warning(
                "backups from the future are not counted and not removed", metadata: ["files": "\(later.prefix(5))"])
        }
        let expired = BackupRetention(keep: settings.keep, every: settings.every)
            .expired(among: ours.filter { $0 <= newest }, at: operations.confirmedTime.reading().earliest)
        for name in expired { unlink("\(settings.directory)/\(name)") }
    }
}
