import KeyCustody
import Logging
import MerchantCore
import MerchantOperations
import SQLiteStore
import ServiceLifecycle
import Synchronization
import Vocabulary

/// Rotates the master key and the data key while the daemon serves, however often it is killed.
///
/// Everything is sealed anew under a fresh data key, which a fresh master key seals; the old data key becomes zeros, and the old
/// master key's file with it. What is on disk between any two steps, and how the next start goes on:
///
/// | database: rotation; live data keys | files (`A` old, `B` fresh) | the next start |
/// | --- | --- | --- |
/// | none; d under A | master.key = A | nothing is under way |
/// | none; d under A | A, next = B | B was never used: the next rotation overwrites it |
/// | sealing; d under A, e under B | A, next = B | opens d by A and e by next, goes on where keys are still under d |
/// | erasing; e under B | A, next = B | opens e by next; erases traces, exchanges the files |
/// | erasing; e under B | A, retired = A, next = B | the same |
/// | erasing; e under B | B, retired = A | opens e by master.key; erases traces, overwrites retired |
/// | erasing; e under B | B | erases traces, ends |
/// | finished; e under B | B | nothing is under way |
///
/// What holds in every line: each key that the database needs is durable in a file that the start looks at, because B is durable
/// before e is stored, A goes only after d is zeros, and d becomes zeros only in a transaction that sees nothing sealed under it.
/// With `--data-key-only`, and where the operator supplied the fresh key (a credential, a command, `master-key.previous`), the
/// files stay as they are and the lines are the same: whether the daemon made B is stored with e.
final class MasterKeyRotation: MasterKeyRotating, Service {
    /// How many private keys are sealed anew in one transaction: others' changes wait a few milliseconds for it.
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
    private let obstacle = Mutex<String?>(nil)
    private let isStarting = Atomic(false)
    private let (notifier, ringer) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

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

    func run() async throws {
        // A daemon that stops cancels the wait; the next start goes on.
        try? await cancelWhenGracefulShutdown { [self] in
            if let last = try? await store.lastRotation(), last.state != .finished {
                logger.notice(
                    "a rotation goes on that was cut short",
                    metadata: ["state": "\(last.state.rawValue)", "done": "\(last.done)", "total": "\(last.total)"])
            }
            var rings = notifier.makeAsyncIterator()
            while !Task.isCancelled {
                if let pause = await carryOn() {
                    try await Task.sleep(for: pause)
                } else {
                    _ = await rings.next()
                }
            }
        }
    }
}

// MARK: - What is asked of it

extension MasterKeyRotation {
    func status() async throws -> MasterKeyStatus {
        let rows = try store.dataKeys()
        guard let newest = rows.last(where: { $0.identifier == keyring.newest }) else {
            throw MerchantError(.internalError, "data key \(keyring.newest) is in use and not in the database")
        }
        return MasterKeyStatus(
            masterKey: newest.masterKey, dataKeyIdentifier: newest.identifier, source: "\(settings.current)",
            rotation: try await store.lastRotation(), obstacle: obstacle.withLock { $0 })
    }

    func rotate(
        dataKeyOnly: Bool, dryRun: Bool, by caller: Caller, requestId: String
    ) async throws -> KeyRotationPlan {
        guard isStarting.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
        else { throw MerchantError(.overloaded, "a rotation is just beginning: ask for its status", retryAfter: 1) }
        defer { isStarting.store(false, ordering: .releasing) }
        // A command may take minutes to print the key.
        return try await WorkThreads.waiting.run { try await begin(dataKeyOnly, dryRun, by: caller, requestId) }
    }

    private func begin(
        _ dataKeyOnly: Bool, _ dryRun: Bool, by caller: Caller, _ requestId: String
    ) async throws -> KeyRotationPlan {
        if let last = try await store.lastRotation(), last.state != .finished {
            ringer.yield()
            return KeyRotationPlan(
                joins: true,
                steps: [
                    "go on with the rotation that began at \(last.startedAt): \(last.done) of \(last.total) private keys are sealed anew"
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
        if choice.isFresh { masterKey = try fresh(rows) } else { masterKey = try settings.current.load() }
        let made = choice.isFresh ? masterKey.identifier : nil
        let dataKey = DataKeySeal.create(identifier: identifier, under: masterKey, at: clock.now)
        let audit = AuditEntry(
            .masterKeyRotationStarted, by: caller, at: dataKey.createdAt, before: Self.words(rows.last),
            after: Self.words(dataKey), requestId: requestId)
        _ = try await store.beginRotation(
            to: dataKey, replacesMasterKey: choice.replacesMasterKey, madeMasterKey: made, recording: audit)
        try keyring.add(dataKey, with: masterKey)
        logger.notice("the rotation begins", metadata: ["to": "\(Self.words(dataKey) ?? "")"])
        ringer.yield()
        return plan
    }

    private func masterKey(of dataKey: Int, in rows: [SealedDataKey]) -> MasterKeyIdentifier? {
        rows.last { $0.identifier == dataKey }?.masterKey
    }

    private struct Choice {
        let replacesMasterKey: Bool
        /// Whether the daemon makes the fresh key; otherwise it is where the settings say.
        let isFresh: Bool
        let steps: [String]
    }

    private func choice(dataKeyOnly: Bool, _ rows: [SealedDataKey]) throws -> Choice {
        let inUse = masterKey(of: keyring.newest, in: rows)
        let found = try settings.current.load().identifier
        // A source that says something else each time would seal everything for good.
        guard try settings.current.file != nil || settings.current.load().identifier == found else {
            throw MerchantError(
                .masterKeyConflict, "\(settings.current) gives another master key each time, expected one and the same")
        }
        let isSupplied = found != inUse
        guard !dataKeyOnly || !isSupplied else {
            throw MerchantError(
                .masterKeyConflict,
                "\(settings.current) holds a new master key, \(found): rotate without dataKeyOnly (--data-key-only), so that it takes the old one's place"
            )
        }
        let first =
            if dataKeyOnly {
                "keep master key \(found)"
            } else if isSupplied {
                "take master key \(found), which \(settings.current) holds, for \(inUse?.description ?? "the old one")"
            } else if let file = settings.current.file {
                "make a new master key in \(file.path); backups made until now need the old one, \(found)"
            } else {
                throw MerchantError(
                    .masterKeyConflict,
                    "the daemon cannot write where the master key comes from, \(settings.current): put a new key there, name the old one in the setting master-key.previous, restart, and rotate then; dataKeyOnly (--data-key-only) replaces the data key alone"
                )
            }
        return Choice(
            replacesMasterKey: !dataKeyOnly, isFresh: !dataKeyOnly && !isSupplied,
            steps: [
                first, "seal every private key anew under a fresh data key, while the daemon serves",
                dataKeyOnly || isSupplied
                    ? "erase the old data key" : "erase the old data key, and overwrite and remove the old master key",
            ])
    }

    private func fresh(_ rows: [SealedDataKey]) throws(MerchantError) -> MasterKey {
        guard let file = settings.current.file, let inUse = masterKey(of: keyring.newest, in: rows) else {
            throw MerchantError(.internalError, "only a file's master key is made here")
        }
        do throws(MerchantError) { return try file.createNext(beside: inUse) } catch {
            throw MerchantError(
                .masterKeyConflict,
                "\(error.detail): let the daemon's user write into the directory and see that there is room; or put a new key into the file yourself, name the old one in master-key.previous, restart, and rotate then"
            )
        }
    }

    /// For the audit.
    private static func words(_ dataKey: SealedDataKey?) -> String? {
        dataKey.map { "masterKey=\($0.masterKey) dataKey=\($0.identifier)" }
    }
}

// MARK: - What it does

extension MasterKeyRotation {
    /// Goes on with the rotation that is under way.
    ///
    /// - Returns: how long to wait before it is tried again; nil where nothing is left to be done.
    private func carryOn() async -> Duration? {
        do {
            guard let rotation = try await store.lastRotation(), rotation.state != .finished else {
                showWhatIsToBeDone()
                return nil
            }
            // It has been stored, and is just being taken up.
            guard keyring.newest == rotation.dataKeyIdentifier else { return .milliseconds(50) }
            if rotation.state == .sealing, let unreadable = try await sealAnew(rotation) {
                hinder(
                    "\(unreadable) private keys cannot be unsealed and keep the old data key and master key in place: revoke and destroy them ('backup verify' names them), or restore a backup"
                )
                return Self.pauseWithUnreadable
            }
            try await erase(rotation)
            return nil
        } catch is CancellationError {
            return .zero
        } catch {
            let why = (error as? MerchantError)?.detail ?? "\(error)"
            logger.error("the rotation cannot go on, it is tried again", metadata: ["error": "\(why)"])
            hinder("it cannot go on: \(why)")
            return Self.pauseAfterFailure
        }
    }

    /// - Returns: how many private keys cannot be unsealed; nil where all are under the fresh data key.
    private func sealAnew(_ rotation: KeyRotation) async throws -> Int? {
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
                        logger.error("a private key cannot be sealed anew", metadata: ["error": "\(error.detail)"])
                    }
                }
                try await store.replace(renewed, in: rotation)
                if obstacle.withLock({ $0 }) == nil { await showProgress() }
            }
            // Keys that were sealed before the rotation began may have been stored meanwhile.
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
        // A key that the operator supplied is the operator's, and so is the old one: the files stay as they are.
        if rotation.replacesMasterKey, let file = settings.current.file, let needed = dataKey?.masterKey,
            try await store.madeMasterKey() == needed || file.hasNext(needed)
        {
            try file.exchange(to: needed, from: Set(rows.map(\.masterKey)))
        }
        let now = clock.now
        try await store.finish(
            rotation, at: now,
            recording: AuditEntry(
                .masterKeyRotationFinished, by: caller, at: now, after: Self.words(dataKey),
                reason: "\(rotation.total) private keys sealed anew since \(rotation.startedAt)"))
        logger.notice("the rotation is done", metadata: ["now": "\(Self.words(dataKey) ?? "")"])
        obstacle.withLock { $0 = nil }
        showWhatIsToBeDone()
    }

    private func hinder(_ why: String) {
        obstacle.withLock { $0 = why }
        conditions.set(.masterKeyRotation, .warning, "a rotation of the master key or data key is under way: \(why)")
    }

    private func showProgress() async {
        guard let rotation = try? await store.lastRotation() else { return }
        conditions.set(
            .masterKeyRotation, .notice,
            "a rotation of the \(rotation.replacesMasterKey ? "master key" : "data key") is under way: \(rotation.done) of \(rotation.total) private keys are sealed anew"
        )
    }

    /// Whether the operator supplied a new master key that nothing is sealed by yet.
    private func showWhatIsToBeDone() {
        guard settings.previous != nil, let found = try? settings.current.load().identifier,
            let inUse = try? store.dataKeys().last(where: { $0.identifier == keyring.newest })?.masterKey,
            found != inUse
        else { return conditions.clear(.masterKeyRotation) }
        conditions.set(
            .masterKeyRotation, .warning,
            "\(settings.current) holds a new master key, and everything is still sealed by the previous one: run 'merchantkeyctl master-key rotate'"
        )
    }
}
