import KeyCustody
import Logging
import MerchantCore
import Vocabulary

/// Performs a rotation that ``MasterKeyRotation`` has stored in the database.
///
/// 1. Waits until every other daemon on the database has loaded the new data key and seals under it.
/// 2. Re-encrypts the private keys and the account numbers of merchant tokens under the new data key.
/// 3. Erases the old data key.
/// 4. If the daemon created the new master key in the file with the suffix `.next`, gives this file the name of the old
///    master key's file, and erases the old master key.
struct Reencryption: Sendable {
    /// How many private keys or account numbers are re-encrypted in one transaction. Other changes wait a few
    /// milliseconds for such a transaction.
    private static let batchSize = 256
    /// The pause before the rotation is attempted again after an error.
    private static let pauseAfterFailure = Duration.seconds(5)
    /// The pause between checks whether the other daemons have loaded the new data key, and then whether they seal
    /// under it.
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

    /// Performs the rotation that is in progress, from the point that an earlier call or an earlier run of the daemon
    /// reached.
    ///
    /// - Returns: how long to wait before the next call; nil if no rotation is in progress any more.
    func resume() async -> Duration? {
        do {
            guard let rotation = try await store.lastRotation(), rotation.state != .finished else {
                rotationStatus.updateFindingOfUnusedMasterKey()
                return nil
            }
            // The request that starts a rotation stores the new data key in the database before it adds the data key to
            // this daemon's keyring. If another daemon got the request, this daemon loads the data key from the
            // database. Until this daemon has the data key, the rotation waits.
            guard keyring.holds(rotation.dataKeyIdentifier) else {
                rotationStatus.reportWaiting(for: ["this daemon"])
                return .milliseconds(50)
            }
            if rotation.state == .sealing {
                guard try await others(have: rotation.dataKeyIdentifier, \.loadedDataKey) else {
                    return Self.pauseForOthers
                }
                // Now every daemon can unseal what this daemon seals under the new data key.
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
            try await eraseOldKeysAndFinish(rotation)
            return nil
        } catch is CancellationError {
            // The daemon shuts down, or another daemon performs or has finished the rotation. The caller checks both
            // before it calls this method again.
            return .zero
        } catch {
            let why = (error as? MerchantError)?.detail ?? "\(error)"
            logger.error("the rotation is blocked and will be retried", metadata: ["error": "\(why)"])
            rotationStatus.reportBlocked("blocked: \(why)")
            return Self.pauseAfterFailure
        }
    }

    /// Whether every other daemon with a lease has this data key or a newer one. If not, reports the daemons for which
    /// the rotation waits.
    ///
    /// - Parameter newest: returns a daemon's newest data key: the newest one that it has loaded, or the one under
    ///   which it seals.
    private func others(have dataKey: Int, _ newest: (NodeKeys) -> Int) async throws -> Bool {
        let lacking = try await nodes.keysOfOthers().filter { newest($0.value) < dataKey }
        guard lacking.isEmpty else {
            rotationStatus.reportWaiting(for: lacking.keys.map(\.rawValue).sorted())
            return false
        }
        return true
    }

    /// Checks that this daemon still has to re-encrypt for this rotation.
    ///
    /// - Throws: `CancellationError` if the daemon shuts down, if another daemon may be the leader, or if the
    ///   re-encryption is complete.
    private func requireInProgress(_ rotation: KeyRotation) async throws {
        try Task.checkCancellation()
        // With an unlimited lease, this is the only daemon on the database: no other daemon can perform the rotation.
        guard !lease.isUnlimited else { return }
        guard lease.isValid, let last = try await store.lastRotation(), last.identifier == rotation.identifier,
            last.state == .sealing
        else { throw CancellationError() }
    }

    /// Re-encrypts all private keys and account numbers under the new data key, and then overwrites the old data keys
    /// in the database.
    ///
    /// - Returns: how many private keys cannot be unsealed; nil if there are none. If there are any, the old data keys
    ///   are kept.
    private func reseal(_ rotation: KeyRotation) async throws -> Int? {
        while true {
            // One pass over all private keys and account numbers that are not sealed under the new data key.
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
            // A request may have sealed a secret under an old data key before its daemon began to seal under the new
            // one, and may have stored the secret only after this pass. So the passes repeat until only unreadable
            // private keys are sealed under old data keys.
            let stillUnderOldKeys = try await store.eraseOldDataKeysIfUnused(in: rotation)
            if stillUnderOldKeys == 0 { return nil }
            if stillUnderOldKeys <= unreadable { return stillUnderOldKeys }
        }
    }

    /// Re-encrypts the account numbers of merchant tokens. Erases an account number whose sealed bytes are damaged:
    /// it can never be unsealed, and it must not keep the old data key in use.
    ///
    /// - Throws: `keyDamaged` if the daemon lacks the data key or does not know the format of a sealed number. The
    ///   number is kept, because a newer daemon may know the format, and another copy of the database may contain the
    ///   data key.
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

    /// Erases the old data keys and their copies in memory and in files, and the old master key if this daemon replaces
    /// its file. Then records the end of the rotation.
    private func eraseOldKeysAndFinish(_ rotation: KeyRotation) async throws {
        keyring.forgetOlder(than: rotation.dataKeyIdentifier)
        try await store.eraseCopiesOfOldKeys(after: rotation)
        let rows = try store.dataKeys()
        let dataKey = rows.last { $0.identifier == rotation.dataKeyIdentifier }
        // The daemon replaces the master key's file only if the database records that the daemon created the new master
        // key in the file with the suffix `.next`, or if that file contains this key. See ``MasterKeyRotation`` and
        // `MasterKeyFile`.
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
