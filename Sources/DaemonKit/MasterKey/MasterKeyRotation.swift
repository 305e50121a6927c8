import KeyCustody
import Logging
import MerchantCore
import MerchantOperations
import SQLiteStore
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
/// | database: state of the rotation; data keys | files: `master.key`; others | the next start |
/// | --- | --- | --- |
/// | none; d under A | A | no rotation to resume |
/// | none; d under A | A; next = B | B was never used: the next rotation overwrites it |
/// | sealing; d under A, e under B | A; next = B | opens d with A and e with next; seals the remaining keys under e |
/// | erasing; e under B | A; next = B | opens e with next; erases traces of d, exchanges the files |
/// | erasing; e under B | A; retired = A, next = B | opens e with next; erases traces of d, exchanges the files |
/// | erasing; e under B | B; retired = A | opens e with master.key; erases traces of d, overwrites retired |
/// | erasing; e under B | B | erases traces of d, finishes |
/// | finished; e under B | B | no rotation to resume |
///
/// In every row, each master key that the database needs is on stable storage in a file that the start reads. The
/// daemon syncs B before it stores e. It overwrites d only in a transaction in which no private key is sealed under d.
/// Only after that transaction does it remove A.
///
/// The daemon does not change the files if the rotation has `--data-key-only`, or if the operator supplied the new
/// master key: by a credential, by a command or with `master-key.previous`. The states of the database are the same.
/// The transaction that stores e also records whether the daemon created B.
final class MasterKeyRotation: MasterKeyRotating, Service {
    private let settings: MasterKeySettings
    private let store: SQLiteStore
    private let keyring: Keyring
    private let clock: any WallClock
    private let reencryption: Reencryption
    private let rotationStatus: RotationStatus
    private let logger: Logger
    /// Whether a request is starting a rotation. Further requests are refused meanwhile.
    private let isStarting = Atomic(false)
    /// Wakes ``rotateWhenRequested()`` when a request has started a rotation.
    private let (requests, requestContinuation) = AsyncStream.makeStream(
        of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(
        _ settings: MasterKeySettings, store: SQLiteStore, keyring: Keyring, caller: Caller, clock: any WallClock,
        activeFindings: ActiveFindings, logger: Logger
    ) {
        self.settings = settings
        self.store = store
        self.keyring = keyring
        self.clock = clock
        self.logger = logger
        rotationStatus = RotationStatus(settings, store: store, keyring: keyring, activeFindings: activeFindings)
        reencryption = Reencryption(
            settings: settings, store: store, keyring: keyring, caller: caller, clock: clock,
            rotationStatus: rotationStatus,
            logger: logger)
    }

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
                if let pause = await reencryption.resume() {
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
            rotation: try await store.lastRotation(), blockedBy: rotationStatus.blocker)
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
                    "resume the rotation that began at \(last.startedAt): \(last.done) of \(last.total) private keys are re-encrypted"
                ])
        }
        let rows = try store.dataKeys()
        let inUse = rows.last { $0.identifier == keyring.newest }?.masterKey
        let choice = try MasterKeyChoice(from: settings.current, inUse: inUse, dataKeyOnly: dataKeyOnly)
        let plan = KeyRotationPlan(joinsRotationInProgress: false, steps: choice.steps)
        guard !dryRun else { return plan }
        let identifier = max(rows.map(\.identifier).max() ?? 0, DataKeySeal.identifiers.lowerBound - 1) + 1
        guard DataKeySeal.identifiers.contains(identifier) else {
            throw MerchantError(
                .masterKeyConflict,
                "this database has used up all \(DataKeySeal.identifiers.count) identifiers of data keys, so no further rotation is possible"
            )
        }
        let masterKey = try choice.masterKey()
        let created = choice.createsKey ? masterKey.identifier : nil
        let dataKey = DataKeySeal.create(identifier: identifier, under: masterKey, at: clock.now)
        let audit = AuditEntry(
            .masterKeyRotationStarted, by: caller, at: dataKey.createdAt, before: rows.last?.summary,
            after: dataKey.summary, requestId: requestId)
        _ = try await store.beginRotation(
            to: dataKey, replacesMasterKey: choice.replacesMasterKey, generatedMasterKey: created, recording: audit)
        try keyring.add(dataKey, with: masterKey)
        logger.notice("rotation started", metadata: ["to": "\(dataKey.summary)"])
        requestContinuation.yield()
        return plan
    }
}

extension SealedDataKey {
    /// The text for the data key in audit records.
    var summary: String { "masterKey=\(masterKey) dataKey=\(identifier)" }
}
