import KeyCustody
import Logging
import MerchantCore
import Vocabulary

/// Performs a rotation that ``MasterKeyRotation`` has stored in the database: re-encrypts the private keys and
/// the account numbers of merchant tokens, then erases the old data key. Also erases the old master key if the rotation
/// replaces the master key and the daemon exchanges the files (see ``MasterKeyRotation``).
struct Reencryption: Sendable {
    /// How many private keys or account numbers are re-encrypted in one transaction. Other changes wait a few
    /// milliseconds for such a transaction.
    private static let batchSize = 256
    private static let pauseAfterFailure = Duration.seconds(5)
    /// The pause while other daemons must load or use the new data key.
    private static let pauseForOthers = Duration.milliseconds(500)
    /// The pause if private keys cannot be unsealed: longer than ``pauseAfterFailure``, because only an operator can
    /// remove the cause.
    private static let pauseWithUnreadableKeys = Duration.seconds(600)

    let settings: MasterKeySettings
    let store: any KeyRotationStore
    let keyring: Keyring
    let nodes: any NodeKeyDirectory
    /// The lease of the leader: only the leader performs the rotation.
    let lease: Lease
    /// The caller in the audit record of the rotation's end.
    let daemonAsCaller: Caller
    let clock: any WallClock
    let rotationStatus: RotationStatus
    let logger: Logger

    /// Resumes the rotation that is in progress.
    ///
    /// - Returns: how long to wait before the next attempt; nil if no rotation is in progress.
    func resume() async -> Duration? {
        do {
            guard let rotation = try await store.lastRotation(), rotation.state != .finished else {
                rotationStatus.updateFindingOfUnusedKey()
                return nil
            }
            // The new data key is stored in the database before it is added to the keyring. Until this daemon has added
            // it, the rotation waits.
            guard keyring.holds(rotation.dataKeyIdentifier) else {
                rotationStatus.reportWaiting(for: ["this daemon"])
                return .milliseconds(50)
            }
            if rotation.state == .sealing {
                guard try await others(have: rotation.dataKeyIdentifier, \.loadedDataKey) else {
                    return Self.pauseForOthers
                }
                keyring.sealNew(under: rotation.dataKeyIdentifier)
                guard try await others(have: rotation.dataKeyIdentifier, \.sealingDataKey) else {
                    return Self.pauseForOthers
                }
            }
            rotationStatus.reportNotWaiting()
            if rotation.state == .sealing, let unreadable = try await reseal(rotation) {
                rotationStatus.reportBlocked(
                    "\(unreadable.counted("private key")) cannot be unsealed, so the old data key and master key must be kept; revoke and destroy the key pair of each such private key ('backup verify' lists them), or restore a backup"
                )
                return Self.pauseWithUnreadableKeys
            }
            try await erase(rotation)
            return nil
        } catch is CancellationError {
            // The daemon shuts down, or another daemon is the leader now. The caller checks both before it continues.
            return .zero
        } catch {
            let why = (error as? MerchantError)?.detail ?? "\(error)"
            logger.error("the rotation is blocked and will be retried", metadata: ["error": "\(why)"])
            rotationStatus.reportBlocked("blocked: \(why)")
            return Self.pauseAfterFailure
        }
    }

    /// Whether `newest` is at least `dataKey` for every other daemon with a lease. Otherwise reports for which daemons
    /// the rotation waits.
    private func others(have dataKey: Int, _ newest: (NodeKeys) -> Int) async throws -> Bool {
        let lacking = try await nodes.keysOfOthers().filter { newest($0.value) < dataKey }
        guard lacking.isEmpty else {
            rotationStatus.reportWaiting(for: lacking.keys.map(\.rawValue).sorted())
            return false
        }
        return true
    }

    /// - Throws: `CancellationError` if the daemon shuts down, or if another daemon performs the rotation.
    private func requireInProgress(_ rotation: KeyRotation) async throws {
        try Task.checkCancellation()
        guard !lease.isUnlimited else { return }
        guard lease.isValid, let last = try await store.lastRotation(), last.identifier == rotation.identifier,
            last.state == .sealing
        else { throw CancellationError() }
    }

    /// - Returns: how many private keys cannot be unsealed; nil if all private keys and account numbers are sealed
    ///   under the new data key.
    private func reseal(_ rotation: KeyRotation) async throws -> Int? {
        while true {
            var row = 0
            var unreadable = 0
            while true {
                try await requireInProgress(rotation)
                let page = try await store.sealedKeys(
                    notUnder: rotation.dataKeyIdentifier, after: row, limit: Self.batchSize)
                guard let last = page.last else { break }
                row = last.row
                var renewed: [(old: SealedKeyPairRow, new: SealedPrivateKey)] = []
                for seal in page {
                    do { renewed.append((seal, try keyring.resealed(seal.sealedKeyPair))) } catch {
                        guard error.code == .keyDamaged else { throw error }
                        unreadable += 1
                        logger.error("a private key cannot be re-encrypted", metadata: ["error": "\(error.detail)"])
                    }
                }
                try await store.replace(renewed, in: rotation)
                await rotationStatus.reportProgress()
            }
            try await resealMPANs(rotation)
            // A request may have sealed a secret under the old data key before the rotation began, and stored it only
            // now. So this repeats until only unreadable private keys are left.
            let remaining = try await store.retireUnusedDataKeys(in: rotation)
            if remaining == 0 { return nil }
            if remaining <= unreadable { return remaining }
        }
    }

    /// Re-encrypts the account numbers of merchant tokens. Erases an account number whose sealed bytes are damaged:
    /// it can never be unsealed, and it must not keep the old data key in use.
    ///
    /// - Throws: `keyDamaged` if the daemon lacks the data key or does not know the format of a sealed number. The
    ///   number is kept, because another version of the daemon or another copy of the database may unseal it.
    private func resealMPANs(_ rotation: KeyRotation) async throws {
        var row = 0
        while true {
            try Task.checkCancellation()
            let page = try await store.sealedMPANs(
                notUnder: rotation.dataKeyIdentifier, after: row, limit: Self.batchSize)
            guard let last = page.last else { return }
            row = last.row
            var renewed: [(old: SealedMPANRow, new: SealedMPAN)] = []
            for stored in page {
                do { renewed.append((stored, try keyring.resealed(stored.sealed))) } catch {
                    guard keyring.knowsKeyAndFormat(of: stored.sealed) else { throw error }
                    try await eraseDamaged(stored, because: error)
                }
            }
            try await store.replace(renewed)
        }
    }

    private func eraseDamaged(_ mpan: SealedMPANRow, because error: MerchantError) async throws {
        let owner = mpan.sealed.owner
        try await store.erase(
            mpan,
            recording: AuditEntry(
                .damagedMPANErased, by: daemonAsCaller, at: clock.now, merchant: owner.merchantIdentifier,
                reason: "merchantTokenIdentifier=\(owner.merchantTokenIdentifier)"))
        logger.error(
            "an account number cannot be re-encrypted and was erased", metadata: ["error": "\(error.detail)"])
    }

    private func erase(_ rotation: KeyRotation) async throws {
        keyring.forgetOlder(than: rotation.dataKeyIdentifier)
        try await store.eraseTraces(of: rotation)
        let rows = try store.dataKeys()
        let dataKey = rows.last { $0.identifier == rotation.dataKeyIdentifier }
        // The daemon replaces the file of the master key only if it created the new master key, or if the file
        // `….next` beside it contains the new master key.
        if rotation.replacesMasterKey, let file = settings.current.file, let needed = dataKey?.masterKeyIdentifier,
            try await store.generatedMasterKey() == needed || file.hasNext(needed)
        {
            try file.exchange(to: needed, from: Set(rows.map(\.masterKeyIdentifier)))
        }
        let now = clock.now
        try await store.finish(
            rotation, at: now,
            recording: AuditEntry(
                .masterKeyRotationFinished, by: daemonAsCaller, at: now, after: dataKey?.summary,
                reason: "\(rotation.total.counted("private key")) re-encrypted since \(rotation.startedAt)"))
        logger.notice("rotation finished", metadata: ["to": "\(dataKey?.summary ?? "")"])
        rotationStatus.reportFinished()
    }
}
