import MerchantCore
import SQLiteStore
import Synchronization
import Vocabulary

/// The database file of the claims. A claim records that a payment token, or a nonce of in-app provisioning, was used,
/// so that the daemon refuses a second use. While the file cannot be opened, the daemon refuses requests that record
/// or read a claim, and answers all others.
final class ClaimsFile: ClaimLedger, NonceLedger {
    private enum State {
        case open(ClaimStore)
        case unusable(MerchantError, since: Timestamp)
    }

    private let path: String
    private let clock: any WallClock
    /// Writes the newest claim into the lock file. Also has what the last daemon wrote there.
    private let lock: InstanceLock
    /// Whether the file was missing when the daemon started.
    private let isNew: Bool
    /// Whether the file had content when the daemon started.
    private let hadContent: Bool
    private let state: Mutex<State>

    /// Opens the file, and creates it if it is missing. If this fails, ``store`` is nil until ``openIfUnusable(_:)``
    /// succeeds.
    init(path: String, clock: some WallClock, lock: InstanceLock) {
        (self.path, self.clock, self.lock) = (path, clock, lock)
        isNew = FileStatus(of: path) == nil
        hadContent = DatabaseInspection.hasContent(path)
        do { state = Mutex(.open(try Self.open(path, clock, lock))) } catch {
            state = Mutex(.unusable(Self.reason(error, path), since: clock.now))
        }
    }

    /// Tries again to open the file. May wait for seconds. Only one caller at a time may call this.
    ///
    /// If the file existed when the daemon started, this method never creates a new file: the tokens that are claimed
    /// in the old file could then be claimed again. If an operator moves an unusable file away, only a restart of the
    /// daemon creates a new file. The daemon then reports that claims are missing.
    ///
    /// - Parameter opened: called with the open file, before a claim can be stored in it. Not called if this call did
    ///   not open the file.
    func openIfUnusable(_ opened: (ClaimStore) -> Void) {
        guard case .unusable(_, let since) = state.withLock({ $0 }) else { return }
        do {
            guard isNew || FileStatus(of: path) != nil else {
                throw MerchantError(.storeUnavailable, "it was removed; put it back, or restart the daemon without it")
            }
            guard !hadContent || DatabaseInspection.hasContent(path) else {
                throw MerchantError(
                    .storeUnavailable, "it is empty now; put its content back, or restart the daemon without the file")
            }
            let store = try Self.open(path, clock, lock)
            opened(store)
            state.withLock { $0 = .open(store) }
        } catch {
            state.withLock { $0 = .unusable(Self.reason(error, path), since: since) }
        }
    }

    private static func open(_ path: String, _ clock: some WallClock, _ lock: InstanceLock) throws -> ClaimStore {
        try refuseFileOlderThanLog(at: path, lock.previousContent)
        return try ClaimStore.open(path: path, clock: clock, observer: lock)
    }

    /// Refuses the file if its write-ahead log was written for a newer version of the file, as after an operator has
    /// put back an older copy of the file alone. SQLite would apply the log to the older copy, and so lose claims or
    /// damage the file.
    ///
    /// - Throws: `storeUnavailable`.
    private static func refuseFileOlderThanLog(at path: String, _ lockFile: LockFileContent) throws {
        guard
            let expected = lockFile.claimExpectedInFile(besideLog: DatabaseInspection.logGeneration(of: path)),
            ClaimStore.lacks(expected, inFileAlone: path)
        else { return }
        throw MerchantError(
            .storeUnavailable,
            "it is older than its write-ahead log: it lacks claim \(expected.id), which was stored before SQLite started this log; stop the daemon and put back the newer file; only if the newer file is lost, move this file and its log away"
        )
    }

    /// Checks that the daemon could open the file, for `config check` and `diagnose`. Changes nothing, and may be
    /// called while a daemon runs.
    ///
    /// - Parameter wholeContent: whether to read the whole file and search it for damage.
    /// - Throws: ``MerchantError`` `storeUnavailable`.
    static func inspect(_ settings: Settings, wholeContent: Bool) throws {
        let path = settings.claimsPath
        let log = FileStatus(of: "\(path)-wal")
        guard FileStatus(of: path) != nil || (log?.size ?? 0) > 0 else { return }
        if !InstanceLock.isDirectoryLocked(settings.stateDirectory) {
            try refuseFileOlderThanLog(at: path, InstanceLock.content(ofFile: settings.lockPath))
        }
        try ClaimStore.inspect(path: path, wholeContent: wholeContent)
    }

    /// The open file; nil if it cannot be opened.
    var store: ClaimStore? { if case .open(let store) = state.withLock({ $0 }) { store } else { nil } }

    /// The warning of `config check` and `diagnose` that the daemon could not open the file.
    static func warning(_ reason: String) -> String {
        "the daemon cannot record which payment tokens were used, so it refuses claims: \(reason)"
    }

    private static func reason(_ error: any Error, _ path: String) -> MerchantError {
        MerchantError(
            .storeUnavailable,
            "the claims file \(path) cannot be opened: \((error as? MerchantError)?.detail ?? "\(error)"); the daemon keeps trying to open it"
        )
    }

    private func opened() throws -> ClaimStore {
        switch state.withLock({ $0 }) {
        case .open(let store): store
        case .unusable(let reason, _): throw reason
        }
    }
}

extension ClaimsFile {
    var health: StoreHealth {
        switch state.withLock({ $0 }) {
        case .open(let store): store.health
        case .unusable(let reason, let since): .impaired(reason, since: since)
        }
    }

    /// Does not open the file, because that may wait: see ``ClaimsOpening``.
    func retryIfImpaired() { store?.retryIfImpaired() }

    var clockBehindClaims: ClockBehindClaims? { store?.clockBehindClaims }

    func claim(_ claim: TokenClaim) async throws -> ClaimOutcome { try await opened().claim(claim) }

    func claim(of transactionId: Bits256) async throws -> TokenClaim? { try await opened().claim(of: transactionId) }

    func claimNonce(_ claim: NonceClaim) async throws { try await opened().claimNonce(claim) }

    func nonceClaim(_ digest: Bits256) async throws -> NonceClaim? { try await opened().nonceClaim(digest) }
}
