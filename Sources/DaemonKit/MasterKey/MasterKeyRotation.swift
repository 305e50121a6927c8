import KeyCustody
import Logging
import MerchantCore
import MerchantOperations
import SQLiteStore
import ServiceLifecycle
import Synchronization
import Vocabulary

/// Rotates the master key and the data key while the daemon serves. A killed daemon resumes the rotation at the next start.
///
/// Every private key is sealed again under a new data key, which a new master key seals; the old data key is overwritten with
/// zeros, and the old master key's file is overwritten and removed. What is on disk between any two steps, and how the next start
/// resumes:
///
/// | database: rotation; live data keys | files (`A` old, `B` new) | the next start |
/// | --- | --- | --- |
/// | none; d under A | master.key = A | no rotation to resume |
/// | none; d under A | A, next = B | B was never used: the next rotation overwrites it |
/// | sealing; d under A, e under B | A, next = B | opens d with A and e with next, resumes with the keys under d |
/// | erasing; e under B | A, next = B | opens e with next; erases traces, exchanges the files |
/// | erasing; e under B | A, retired = A, next = B | the same |
/// | erasing; e under B | B, retired = A | opens e with master.key; erases traces, overwrites retired |
/// | erasing; e under B | B | erases traces, finishes |
/// | finished; e under B | B | no rotation to resume |
///
/// In every row, each key that the database needs is on stable storage in a file that the start reads: B is synced before e is
/// stored, A is removed only after d is zeros, and d becomes zeros only in a transaction in which no key is sealed under it. With
/// `--data-key-only`, and where the operator supplied the new key (a credential, a command, `master-key.previous`), the files stay
/// as they are and the rows are the same: whether the daemon created B is stored with e.
final class MasterKeyRotation: MasterKeyRotating, Service {
    /// How many private keys are sealed again in one transaction. Other changes wait a few milliseconds for it.
    private static let batch = 256
    private static let pauseAfterFailure = Duration.seconds(5)
    private static let pauseWithUnreadable = Duration.seconds(600)

    private let settings: MasterKeySettings
    private let store: SQLiteStore
    private let keyring: Keyring
    private let caller: Caller
    private let clock: any WallClock
    private let conditions: ConditionLog
    private let logger: Logger
    private let blocker = Mutex<String?>(nil)
    private let isStarting = Atomic(false)
    private let (requests, requestContinuation) = AsyncStream.makeStream(
        of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(
        _ settings: MasterKeySettings, store: SQLiteStore, keyring: Keyring, caller: Caller, clock: any WallClock,
        conditions: ConditionLog, logger: Logger
    ) {
        self.settings = settings
        self.store = store
        self.keyring = keyring
        self.caller = caller
        self.clock = clock
        self.conditions = conditions
        self.logger = logger
    }

    func run() async throws { await WorkThreads.waiting.run { await rotateWhenAsked() } }

    private func rotateWhenAsked() async {
        // A shutdown cancels the wait; the next start resumes.
        try? await cancelWhenGracefulShutdown { [self] in
            if let last = try? await store.lastRotation(), last.state != .finished {
                logger.notice(
                    "resuming an interrupted rotation",
                    metadata: ["state": "\(last.state.rawValue)", "done": "\(last.done)", "total": "\(last.total)"])
            }
            var requests = requests.makeAsyncIterator()
            while !Task.isCancelled {
                if let pause = await resume() {
                    try await Task.sleep(for: pause)
                } else {
                    _ = await requests.next()
                }
            }
        }
    }
}

// MARK: - Requests

extension MasterKeyRotation {
    func status() async throws -> MasterKeyStatus {
        let rows = try store.dataKeys()
        guard let newest = rows.last(where: { $0.identifier == keyring.newest }) else {
            throw MerchantError(.internalError, "data key \(keyring.newest) is in use, but missing from the database")
        }
        return MasterKeyStatus(
            masterKey: newest.masterKey, dataKeyIdentifier: newest.identifier, source: "\(settings.current)",
            rotation: try await store.lastRotation(), blockedBy: blocker.withLock { $0 })
    }

    func rotate(
        dataKeyOnly: Bool, dryRun: Bool, by caller: Caller, requestId: String
    ) async throws -> KeyRotationPlan {
        guard isStarting.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
        else {
            throw MerchantError(
                .overloaded, "a rotation is starting; run 'merchantkeyctl master-key status'", retryAfter: 1)
        }
        defer { isStarting.store(false, ordering: .releasing) }
        // The command that prints the master key may take minutes.
        return try await WorkThreads.waiting.run { try await begin(dataKeyOnly, dryRun, by: caller, requestId) }
    }

    private func begin(
        _ dataKeyOnly: Bool, _ dryRun: Bool, by caller: Caller, _ requestId: String
    ) async throws -> KeyRotationPlan {
        if let last = try await store.lastRotation(), last.state != .finished {
            requestContinuation.yield()
            return KeyRotationPlan(
                joins: true,
                steps: [
                    "resume the rotation that began at \(last.startedAt): \(last.done) of \(last.total) private keys are re-encrypted"
                ])
        }
        let rows = try store.dataKeys()
        let choice = try choice(dataKeyOnly: dataKeyOnly, rows)
        let plan = KeyRotationPlan(joins: false, steps: choice.steps)
        guard !dryRun else { return plan }
        let identifier = max(rows.map(\.identifier).max() ?? 0, DataKeySeal.identifiers.lowerBound - 1) + 1
        guard DataKeySeal.identifiers.contains(identifier) else {
            throw MerchantError(
                .masterKeyConflict,
                "there were \(rows.count) data keys, and there can be \(DataKeySeal.identifiers.count) at most")
        }
        let masterKey: MasterKey
        if choice.createsKey { masterKey = try newMasterKey(rows) } else { masterKey = try settings.current.load() }
        let created = choice.createsKey ? masterKey.identifier : nil
        let dataKey = DataKeySeal.create(identifier: identifier, under: masterKey, at: clock.now)
        let audit = AuditEntry(
            .masterKeyRotationStarted, by: caller, at: dataKey.createdAt, before: Self.summary(rows.last),
            after: Self.summary(dataKey), requestId: requestId)
        _ = try await store.beginRotation(
            to: dataKey, replacesMasterKey: choice.replacesMasterKey, generatedMasterKey: created, recording: audit)
        try keyring.add(dataKey, with: masterKey)
        logger.notice("rotation started", metadata: ["to": "\(Self.summary(dataKey) ?? "")"])
        requestContinuation.yield()
        return plan
    }

    private func masterKey(of dataKey: Int, in rows: [SealedDataKey]) -> MasterKeyIdentifier? {
        rows.last { $0.identifier == dataKey }?.masterKey
    }

    private struct Choice {
        let replacesMasterKey: Bool
        /// Whether the daemon creates the new master key; otherwise the operator supplied it.
        let createsKey: Bool
        let steps: [String]
    }

    private func choice(dataKeyOnly: Bool, _ rows: [SealedDataKey]) throws -> Choice {
        let inUse = masterKey(of: keyring.newest, in: rows)
        let found = try settings.current.load().identifier
        // A source that returns a different key each time would make everything unreadable.
        guard try settings.current.file != nil || settings.current.load().identifier == found else {
            throw MerchantError(
                .masterKeyConflict,
                "\(settings.current) returns a different master key each time; it must always return the same one")
        }
        let isSupplied = found != inUse
        guard !dataKeyOnly || !isSupplied else {
            throw MerchantError(
                .masterKeyConflict,
                "\(settings.current) holds a new master key, \(found); rotate without dataKeyOnly (--data-key-only), so that it replaces the old one"
            )
        }
        let first =
            if dataKeyOnly {
                "keep master key \(found)"
            } else if isSupplied {
                "replace master key \(inUse?.description ?? "in use") by \(found), which \(settings.current) holds"
            } else if let file = settings.current.file {
                "create a new master key in \(file.path); existing backups need the old one, \(found)"
            } else {
                throw MerchantError(
                    .masterKeyConflict,
                    "the daemon cannot write to the source of the master key, \(settings.current); put a new key there, set master-key.previous to the old one, restart and rotate again. With dataKeyOnly (--data-key-only) only the data key is replaced"
                )
            }
        return Choice(
            replacesMasterKey: !dataKeyOnly, createsKey: !dataKeyOnly && !isSupplied,
            steps: [
                first, "re-encrypt every private key under a new data key, while the daemon serves",
                dataKeyOnly || isSupplied
                    ? "erase the old data key" : "erase the old data key, and overwrite and remove the old master key",
            ])
    }

    private func newMasterKey(_ rows: [SealedDataKey]) throws(MerchantError) -> MasterKey {
        guard let file = settings.current.file, let inUse = masterKey(of: keyring.newest, in: rows) else {
            throw MerchantError(.internalError, "a new master key can be created in a file only")
        }
        do throws(MerchantError) { return try file.createNext(beside: inUse) } catch {
            throw MerchantError(
                .masterKeyConflict,
                "\(error.detail); make the directory writable for the daemon's user and make room on the disk. Or put a new key into the file yourself, set master-key.previous to the old one, restart and rotate again"
            )
        }
    }

    /// How the audit shows a data key.
    private static func summary(_ dataKey: SealedDataKey?) -> String? {
        dataKey.map { "masterKey=\($0.masterKey) dataKey=\($0.identifier)" }
    }
}

// MARK: - Work

extension MasterKeyRotation {
    /// Resumes the rotation that is in progress.
    ///
    /// - Returns: how long to wait before the next attempt; nil if no rotation is in progress.
    private func resume() async -> Duration? {
        do {
            guard let rotation = try await store.lastRotation(), rotation.state != .finished else {
                publishPending()
                return nil
            }
            // The new data key is stored, and the request is about to add it to the keyring.
            guard keyring.newest == rotation.dataKeyIdentifier else { return .milliseconds(50) }
            if rotation.state == .sealing, let unreadable = try await reseal(rotation) {
                reportBlocked(
                    "\(unreadable) private keys cannot be unsealed, so the old data key and master key must be kept; revoke and destroy these keys ('backup verify' lists them), or restore a backup"
                )
                return Self.pauseWithUnreadable
            }
            try await erase(rotation)
            return nil
        } catch is CancellationError {
            return .zero
        } catch {
            let why = (error as? MerchantError)?.detail ?? "\(error)"
            logger.error("the rotation is blocked and will be retried", metadata: ["error": "\(why)"])
            reportBlocked("blocked: \(why)")
            return Self.pauseAfterFailure
        }
    }

    /// - Returns: how many private keys cannot be unsealed; nil if all are sealed under the new data key.
    private func reseal(_ rotation: KeyRotation) async throws -> Int? {
        while true {
            var row = 0
            var unreadable = 0
            while true {
                try Task.checkCancellation()
                let page = try await store.seals(notUnder: rotation.dataKeyIdentifier, after: row, limit: Self.batch)
                guard let last = page.last else { break }
                row = last.row
                var renewed: [(old: StoredSeal, new: SealedPrivateKey)] = []
                for seal in page {
                    do { renewed.append((seal, try keyring.resealed(seal.stored))) } catch {
                        unreadable += 1
                        logger.error("a private key cannot be re-encrypted", metadata: ["error": "\(error.detail)"])
                    }
                }
                try await store.replace(renewed, in: rotation)
                if blocker.withLock({ $0 }) == nil { await publishProgress() }
            }
            // A key that was sealed before the rotation began may have been stored since.
            let left = try await store.retireDataKeys(in: rotation)
            if left == 0 { return nil }
            if left <= unreadable { return left }
        }
    }

    private func erase(_ rotation: KeyRotation) async throws {
        keyring.forgetAllButNewest()
        try await store.eraseTraces(of: rotation)
        let rows = try store.dataKeys()
        let dataKey = rows.last { $0.identifier == rotation.dataKeyIdentifier }
        // If the operator supplied the new key, the operator keeps both files.
        if rotation.replacesMasterKey, let file = settings.current.file, let needed = dataKey?.masterKey,
            try await store.generatedMasterKey() == needed || file.hasNext(needed)
        {
            try file.exchange(to: needed, from: Set(rows.map(\.masterKey)))
        }
        let now = clock.now
        try await store.finish(
            rotation, at: now,
            recording: AuditEntry(
                .masterKeyRotationFinished, by: caller, at: now, after: Self.summary(dataKey),
                reason: "\(rotation.total) private keys re-encrypted since \(rotation.startedAt)"))
        logger.notice("rotation finished", metadata: ["now": "\(Self.summary(dataKey) ?? "")"])
        blocker.withLock { $0 = nil }
        publishPending()
    }

    private func reportBlocked(_ why: String) {
        blocker.withLock { $0 = why }
        conditions.set(.masterKeyRotation, .warning, "a rotation of the master key or data key is in progress: \(why)")
    }

    private func publishProgress() async {
        guard let rotation = try? await store.lastRotation() else { return }
        conditions.set(
            .masterKeyRotation, .notice,
            "a rotation of the \(rotation.replacesMasterKey ? "master key" : "data key") is in progress: \(rotation.done) of \(rotation.total) private keys are re-encrypted"
        )
    }

    /// Warns if the operator supplied a new master key and no rotation has used it yet.
    private func publishPending() {
        guard settings.previous != nil, let found = try? settings.current.load().identifier,
            let inUse = try? store.dataKeys().last(where: { $0.identifier == keyring.newest })?.masterKey,
            found != inUse
        else { return conditions.clear(.masterKeyRotation) }
        conditions.set(
            .masterKeyRotation, .warning,
            "\(settings.current) holds a new master key, but all keys are still sealed with the previous one; run 'merchantkeyctl master-key rotate'"
        )
    }
}
