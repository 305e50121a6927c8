import KeyCustody
import Logging
import MerchantCore
import MerchantOperations
import ServiceLifecycle
import Synchronization
import Vocabulary

/// Rotates the master key and the data key while the daemon answers requests. After a kill, the next start resumes the
/// rotation.
///
/// The daemon seals every private key again under a new data key, which a new master key seals. Then it overwrites the
/// old data key with zeros, and overwrites and removes the file of the old master key.
///
/// The table shows what is on disk between any two steps, and how the next start resumes. A and B are the old and the
/// new master key, d and e the old and the new data key. `next` and `retired` are files beside `master.key`, see
/// `MasterKeyFile`.
///
/// In the state `erasing`, d is overwritten in its row of the database. The write-ahead log and unused bytes of the
/// database file may still contain d, or private keys sealed under d. A start in this state removes these bytes before
/// it changes the files. To *exchange* the files is to link A as `retired`, to rename `next` to `master.key`, and then
/// to overwrite and remove `retired`.
///
/// | rotation state in the database | data keys in the database | files | what the next start does |
/// | --- | --- | --- | --- |
/// | none | d under A | master.key = A | nothing: there is no rotation |
/// | none | d under A | master.key = A, next = B | nothing: B was never used. The next rotation overwrites B |
/// | sealing | d under A, e under B | master.key = A, next = B | opens d and e, re-encrypts the remaining keys |
/// | erasing | e under B | master.key = A, next = B | opens e, exchanges the files |
/// | erasing | e under B | master.key = A, retired = A, next = B | opens e, continues the exchange |
/// | erasing | e under B | master.key = B, retired = A | opens e, continues the exchange |
/// | erasing | e under B | master.key = B | opens e, finishes the rotation |
/// | finished | e under B | master.key = B | nothing: the rotation is finished |
///
/// In every row, each master key that the database needs is on stable storage in a file that the start reads. The
/// daemon syncs B before it stores e. It overwrites d only in a transaction in which no private key is sealed under d.
/// Only after that transaction does it remove A.
///
/// If `master.key` is missing, the daemon creates B in its place before it stores e, and changes no other file. If the
/// daemon stops before the state `erasing`, the next start fails, because A is lost.
///
/// The daemon changes no file if the rotation has `--data-key-only`, or if the operator supplied the new master key: in
/// a credential, by a command, or in the file of the setting `master-key`, with the old key in `master-key.previous`.
/// The rotation then has the same states in the database. The transaction that stores e also records whether the daemon
/// created B in `next`.
///
/// If several daemons use the database, only a rotation that changes no file is possible, and every daemon must have
/// the master key that seals e before the rotation begins. The leader performs the rotation. It re-encrypts only when
/// every daemon with a lease has loaded e and seals under e (``DataKeyLoading``).
final class MasterKeyRotation: MasterKeyRotating, Service {
    private let settings: MasterKeySettings
    private let store: any KeyRotationStore
    private let keyring: Keyring
    /// The master keys that the daemon loaded at its start, and where it read each of them.
    private let sourcesAtStart: [MasterKeyIdentifier: MasterKeySource]
    private let clock: any WallClock
    private let nodes: any NodeKeyDirectory
    /// The daemon re-encrypts private keys only while this lease is valid.
    private let lease: Lease
    private let reencryption: Reencryption
    private let rotationStatus: RotationStatus
    private let logger: Logger
    /// Whether a request is starting a rotation. Further requests are refused meanwhile.
    private let isStarting = Atomic(false)
    /// Wakes ``rotateWhenRequested()`` when a request has started a rotation, or has found one in progress.
    private let (requests, requestContinuation) = AsyncStream.makeStream(
        of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - daemonAsCaller: the caller in the audit record of a rotation's end. The record of a rotation's start has the
    ///     caller of the request.
    ///   - nodes: reports which keys the other daemons on the database have.
    ///   - lease: the lease of the leader.
    init(
        _ settings: MasterKeySettings, store: any KeyRotationStore, opened: MasterKeys.Opened, daemonAsCaller: Caller,
        nodes: any NodeKeyDirectory, lease: Lease, clock: any WallClock,
        activeFindings: ActiveFindings, logger: Logger
    ) {
        self.settings = settings
        self.store = store
        let keyring = opened.keyring
        self.keyring = keyring
        sourcesAtStart = opened.sources
        self.clock = clock
        (self.nodes, self.lease) = (nodes, lease)
        self.logger = logger
        rotationStatus = RotationStatus(settings, store: store, keyring: keyring, activeFindings: activeFindings)
        reencryption = Reencryption(
            settings: settings, store: store, keyring: keyring, nodes: nodes, lease: lease,
            daemonAsCaller: daemonAsCaller,
            clock: clock, rotationStatus: rotationStatus, logger: logger)
    }

    /// The master keys that the daemon loaded at its start.
    var masterKeysAtStart: [MasterKeyIdentifier] { Array(sourcesAtStart.keys) }

    func run() async throws { await WorkThreads.blocking.run { await rotateWhenRequested() } }

    private func rotateWhenRequested() async {
        // A shutdown cancels the rotation between two steps or while it waits. The next start resumes the rotation.
        try? await cancelWhenGracefulShutdown { [self] in
            if let last = try? await store.lastRotation(), last.state != .finished {
                logger.notice(
                    "resuming an interrupted rotation",
                    metadata: ["state": "\(last.state.rawValue)", "done": "\(last.done)", "total": "\(last.total)"])
            }
            var requests = requests.makeAsyncIterator()
            while !Task.isCancelled {
                try await waitForLease()
                // `resume` returns a pause if it must be called again, for example after a failure, and nil if no
                // rotation is in progress any more.
                if let pauseBeforeRetry = await reencryption.resume() {
                    try await Task.sleep(for: pauseBeforeRetry)
                } else if lease.isUnlimited {
                    _ = await requests.next()
                } else {
                    try await waitForRotation()
                }
            }
        }
    }

    /// How often a daemon that shares its database asks the database whether a rotation is in progress.
    private static let interval = Duration.seconds(1)

    private func waitForLease() async throws {
        // A new data key of another daemon's rotation changes what `status` must report.
        var lastReportedDataKey: Int?
        while !lease.isValid {
            if lastReportedDataKey != keyring.newest {
                lastReportedDataKey = keyring.newest
                rotationStatus.reportPerformedByOther()
            }
            try await Task.sleep(for: Self.interval)
        }
    }

    /// Waits for a rotation that any daemon on the database has begun, or for the end of the lease.
    private func waitForRotation() async throws {
        repeat {
            try await Task.sleep(for: Self.interval)
            guard lease.isValid else { return }
        } while await isFinished()
    }

    /// Whether no rotation is in progress. Also true if the database cannot be read, so that the wait continues.
    private func isFinished() async -> Bool {
        guard let last = try? await store.lastRotation() else { return true }
        return last.state == .finished
    }
}

// MARK: - Requests

extension MasterKeyRotation {
    func status() async throws -> MasterKeyStatus {
        let rows = try store.dataKeys()
        guard let newest = rows.last(where: { $0.identifier == keyring.newest }) else {
            throw MerchantError(
                .internalError,
                "data key \(keyring.newest) is in use, but missing from the database: after a restart, the daemon could not decrypt the private keys that this data key seals; restore a backup"
            )
        }
        return MasterKeyStatus(
            masterKeyIdentifier: newest.masterKeyIdentifier, dataKeyIdentifier: newest.identifier,
            source: "\(source(of: newest.masterKeyIdentifier))",
            rotation: try await store.lastRotation(), blockedBy: rotationStatus.blocker)
    }

    /// The source of the master key that is in use. A new master key in the current source is in use only after a
    /// rotation; until then, the master key comes from the previous source.
    private func source(of inUse: MasterKeyIdentifier) -> MasterKeySource {
        guard let previous = settings.previous, sourcesAtStart[inUse] == previous else { return settings.current }
        return previous
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
        // If the master key comes from a command, the command may run for minutes. So it runs on a separate thread, and
        // does not block other tasks.
        return try await WorkThreads.blocking.run { try await begin(dataKeyOnly, dryRun, by: caller, requestId) }
    }

    private func begin(
        _ dataKeyOnly: Bool, _ dryRun: Bool, by caller: Caller, _ requestId: String
    ) async throws -> KeyRotationPlan {
        if let last = try await store.lastRotation(), last.state != .finished {
            requestContinuation.yield()
            return KeyRotationPlan(
                joinsRotationInProgress: true,
                steps: [
                    "resume the rotation that began at \(last.startedAt): \(last.done) of \(last.total.counted("private key")) re-encrypted"
                ])
        }
        let rows = try store.dataKeys()
        let inUse = rows.last { $0.identifier == keyring.newest }?.masterKeyIdentifier
        let choice = try MasterKeyChoice(from: settings.current, inUse: inUse, dataKeyOnly: dataKeyOnly)
        let others = try await nodes.keysOfOthers()
        try requireKeys(of: others, for: choice)
        let plan = KeyRotationPlan(joinsRotationInProgress: false, steps: choice.steps)
        guard !dryRun else { return plan }
        let identifier = max(rows.map(\.identifier).max() ?? 0, DataKeySeal.identifiers.lowerBound - 1) + 1
        guard DataKeySeal.identifiers.contains(identifier) else {
            throw MerchantError(
                .masterKeyConflict,
                "this database has used up all \(DataKeySeal.identifiers.count) identifiers of data keys, so no further rotation is possible; the daemon continues to use the present data key and master key. To replace these keys, set up a daemon with a new state directory, and generate new key pairs there or import the present key pairs with 'key import'"
            )
        }
        let masterKey = try choice.masterKey()
        let generatedMasterKeyIdentifier = choice.replacesFile ? masterKey.identifier : nil
        let dataKey = DataKeySeal.create(identifier: identifier, under: masterKey, at: clock.now)
        let audit = AuditEntry(
            .masterKeyRotationStarted, by: caller, at: dataKey.createdAt, before: rows.last?.summary,
            after: dataKey.summary, requestId: requestId)
        _ = try await store.beginRotation(
            to: dataKey, replacesMasterKey: choice.replacesMasterKey,
            generatedMasterKey: generatedMasterKeyIdentifier, recording: audit)
        try keyring.add(dataKey, with: masterKey)
        // Other daemons on the database must load the data key before anything is sealed under it.
        if lease.isUnlimited { keyring.sealNew(under: identifier) }
        keyring.warnUnlessLocked(logger)
        logger.notice("rotation started", metadata: ["to": "\(dataKey.summary)"])
        requestContinuation.yield()
        return plan
    }
}

extension MasterKeyRotation {
    /// - Throws: `masterKeyConflict` if one of the other daemons would not have the new master key.
    private func requireKeys(of others: [NodeName: NodeKeys], for choice: MasterKeyChoice) throws {
        guard !others.isEmpty else { return }
        let needed = choice.createsKey ? nil : try choice.masterKey().identifier
        let lacking = others.filter { needed.map($0.value.masterKeys.contains) != true }.keys.map(\.rawValue).sorted()
        guard !lacking.isEmpty else { return }
        let name = needed.map { "the new master key \($0)" } ?? "a master key that this daemon creates"
        throw MerchantError(
            .masterKeyConflict,
            "other daemons use the database and do not have \(name): \(lacking.joined(separator: ", ")); supply the new master key to every daemon in 'master-key', with the old one in 'master-key.previous', restart the daemons one after another, and rotate again (docs/postgresql.md). If the daemons were started just now, repeat the command"
        )
    }
}

extension SealedDataKey {
    /// The identifiers of the data key and of its master key, as text for audit records.
    var summary: String { "masterKey=\(masterKeyIdentifier) dataKey=\(identifier)" }
}
