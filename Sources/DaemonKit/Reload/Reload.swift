import EventDelivery
import Glibc
import Logging
import MerchantCore
import MerchantOperations
import PortalServer

/// Reads the settings again while the daemon runs, and applies those that can change without a restart: all of them at
/// once, or none.
///
/// Permits apply to the next request of every caller, also on connections that are open already. A request in progress
/// keeps the settings with which it began.
final class Reload: Sendable {
    /// What the daemon read when it started.
    private let start: PreparedStart
    private let live: LiveSettings
    private let recording: SettingsRecording
    /// nil if the daemon has no portal.
    private let certificates: PortalCertificates?
    private let activeFindings: ActiveFindings
    private let notifier: SystemdNotifier
    private let logger: Logger
    private let queue = SerialQueue()

    init(
        _ start: PreparedStart, _ live: LiveSettings, recording: SettingsRecording,
        certificates: PortalCertificates?, activeFindings: ActiveFindings, notifier: SystemdNotifier, logger: Logger
    ) {
        self.start = start
        self.live = live
        self.recording = recording
        self.certificates = certificates
        self.activeFindings = activeFindings
        self.notifier = notifier
        self.logger = logger
    }

    /// Reloads the settings. If another reload is in progress, this one begins after it.
    ///
    /// - Parameter dryRun: whether only to check the settings, and report what would change.
    /// - Throws: `settingsInvalid` with every problem; `storeUnavailable` if the audit cannot be written. After an
    ///   error nothing has changed. Unless this was a dry run, `status` then reports `reloadFailed` until a reload
    ///   succeeds or the daemon is restarted. The error names the permits that stay in force although the settings file
    ///   withdraws them.
    @discardableResult
    func run(dryRun: Bool = false, for request: Request) async throws -> SettingsReload {
        try await queue.run { [self] () async throws -> SettingsReload in
            guard !dryRun else { return try await reload(dryRun: true, for: request) }
            return try await notifier.duringReload {
                do { return try await reload(dryRun: false, for: request) } catch {
                    if !(error is CancellationError) { report(error) }
                    throw error
                }
            }
        }
    }

    /// Reloads the settings after SIGHUP. Returns an error as a value, which ``ReloadResult/report(in:)`` can send.
    func result(for request: Request) async -> ReloadResult {
        do {
            try await run(for: request)
            return .reloaded
        } catch {
            return .refused(reason: Self.reason(error))
        }
    }

    private func reload(dryRun: Bool, for request: Request) async throws -> SettingsReload {
        // Runs on a separate thread, because a disk or network file system may hang.
        let read = try await WorkThreads.blocking.run { try prepare() }
        let comparison = SettingsComparison(start: start, former: live.current, read: read)
        let (result, next) = (comparison.result, comparison.next)
        guard !dryRun else { return result }
        do {
            try await recording.record(
                result, policy: next.callers, webhooks: next.webhooks.map(\.registration), for: request)
        } catch let error as MerchantError {
            throw MerchantError(
                error.code, error.detail + removedPermits(by: next.callers), retryAfter: error.retryAfter)
        }
        live.replace(with: next)
        if let files = next.portalFiles, let certificates {
            await WorkThreads.blocking.run { certificates.reload(files) }
        }
        activeFindings.clear(.reloadFailed)
        log(result)
        return result
    }

    private func prepare() throws(MerchantError) -> PreparedStart {
        let source = start.settings.source
        do {
            return try PreparedStart(
                file: source.file, stateDirectory: source.stateDirectory, environment: source.variables,
                for: .check(runsCommands: false), inheriting: start.inherited)
        } catch {
            let problems = (error as? SettingsError)?.problems ?? ["\(error)"]
            let policy = CallerPolicy.readAlone(from: source, ownUID: getuid())
            throw MerchantError(
                .settingsInvalid,
                "the settings were not reloaded, and the previous settings stay in force: \(problems.joined(separator: "; "))\(removedPermits(by: policy)); correct the settings, and reload again"
            )
        }
    }

    /// The part of an error that names the permits that stay in force although the settings file withdraws them; empty
    /// if there are none.
    ///
    /// - Parameter policy: the permits of the settings file; nil if they are unknown.
    private func removedPermits(by policy: CallerPolicy?) -> String {
        guard let policy else { return "; the permits of all callers stay in force" }
        guard let text = RemovedPermits(from: live.current.callers, to: policy).text else { return "" }
        return "; these permits stay in force although the settings file withdraws them: \(text)"
    }

    private func report(_ error: any Error) {
        let reason = Self.reason(error)
        logger.error("the settings were not reloaded", metadata: ["error": "\(reason)"])
        activeFindings.set(.reloadFailed, .warning, reason)
    }

    private static func reason(_ error: any Error) -> String { (error as? MerchantError)?.detail ?? "\(error)" }

    private func log(_ result: SettingsReload) {
        logger.notice(
            "settings reloaded",
            metadata: [
                "changed": "\(result.changed.joined(separator: ","))",
                "needsRestart": "\(result.needsRestart.map(\.name).joined(separator: ","))",
            ])
        for warning in result.warnings {
            logger.warning("a setting does not work", metadata: ["problem": "\(warning)"])
        }
    }
}
