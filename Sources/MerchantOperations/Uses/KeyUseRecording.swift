package import MerchantCore
import Vocabulary

/// Stores the observed uses of key pairs, and makes the changes that follow from a use, such as a promotion.
package struct KeyUseRecording: Sendable {
    package typealias Writer = KeyTransitionWriting & KeyUseWriting
    package typealias Records = Transactions<any KeyUseReading, any Writer>

    private let records: Records
    private let uses: KeyUses
    private let currentPolicy: CurrentValue<RollPolicy>
    var policy: RollPolicy { currentPolicy.value }
    /// If the machine's clock was set back, the times of uses are corrected with the confirmed time.
    private let confirmedTime: ConfirmedTime

    package init(records: Records, uses: KeyUses, policy: CurrentValue<RollPolicy>, confirmedTime: ConfirmedTime) {
        self.records = records
        self.uses = uses
        currentPolicy = policy
        self.confirmedTime = confirmedTime
    }

    /// The largest number of keys whose counters one transaction changes. Many small transactions are slow, because
    /// each one waits for the disk and invalidates the readers' page caches. A large transaction delays other writes:
    /// an admin's change waits about 20 ms for a transaction of this size.
    private static let keysPerTransaction = 1024
    /// The largest number of keys in a transaction that changes more than counters. Each of these keys needs several
    /// statements.
    private static let changedKeysPerTransaction = 32
    /// The shortest time between two events about requests for the same revoked key. Any caller can send such requests,
    /// because public key hashes are not secret.
    package static let revokedKeyEventInterval = Duration.seconds(86_400)

    /// Stores the uses that were observed since the last call.
    ///
    /// A successful decryption with a roll's new key confirms that key's promotion or, if the settings permit this,
    /// promotes the key. If the merchant has neither a current key nor an open roll of the algorithm, a successful
    /// decryption can promote a standby key too: otherwise the daemon would never replace this key before its
    /// certificate expires. Any use of a roll's old key restarts the quiet period, after which the roll can revoke the
    /// old key. A request for a revoked or destroyed key raises an event, at most once a day for each key. If Apple
    /// encrypts to a standby key that the daemon does not promote, this also raises an event.
    ///
    /// - Returns: the number of keys that were used.
    /// - Throws: `storeUnavailable` or `overloaded`; the next call then stores the remaining uses. Throws any other
    ///   error only after trying to store each use.
    @discardableResult
    package func storeUses(as caller: Caller) async throws -> Int {
        let collected = uses.collect()
        defer { uses.discard(collected) }
        let time = confirmedTime.reading()
        let sorted = await sortedByRow(collected.uses)
        // The uses have the times of the machine's clock. If that clock was set back, correct the times, so that the
        // uses do not seem older than they are.
        let corrected = sorted.map { (key: $0.key, value: $0.value.shifted(by: time.setBack, notPast: time.latest)) }
        var round = Round(
            request: Request(caller: caller, requestId: "observed-use"), time: time,
            waiting: Dictionary(uniqueKeysWithValues: sorted))
        do {
            for batch in Self.parts(of: corrected, size: Self.keysPerTransaction) {
                let changing = try await storeCounters(batch, in: &round)
                for part in Self.parts(of: changing, size: Self.changedKeysPerTransaction) {
                    try await store(part, in: &round)
                }
            }
        } catch {
            for (hash, use) in round.waiting { uses.add(use, for: hash) }
            throw error
        }
        if let failure = round.failure { throw failure }
        return sorted.count
    }

    private typealias Use = (key: PublicKeyHash, value: KeyUse)

    /// One call of ``storeUses(as:)``.
    private struct Round {
        let request: Request
        let time: ClockReading
        /// The uses that are not stored yet, with the times of the machine's clock.
        var waiting: [PublicKeyHash: KeyUse]
        /// The first error other than `storeUnavailable` and `overloaded`.
        var failure: (any Error)?

        mutating func remove(_ uses: [Use]) { for use in uses { waiting[use.key] = nil } }

        /// - Throws: the error, if the uses can be stored later.
        mutating func note(_ error: any Error) throws {
            if let error = error as? MerchantError, [.storeUnavailable, .overloaded].contains(error.code) {
                throw error
            }
            failure = failure ?? error
        }
    }

    private static func parts(of uses: [Use], size: Int) -> [[Use]] {
        stride(from: 0, to: uses.count, by: size).map { Array(uses[$0...].prefix(size)) }
    }

    /// Sorts uses by the rows of their keys, so that a transaction over many keys writes few pages.
    ///
    /// If the rows cannot be read, this returns the uses unsorted. The writes that follow report the failure.
    private func sortedByRow(_ uses: [PublicKeyHash: KeyUse]) async -> [Use] {
        let hashes = Array(uses.keys)
        let sortedHashes = try? await records.read { try $0.sortedByRow(hashes) }
        return (sortedHashes ?? hashes).compactMap { hash in uses[hash].map { (hash, $0) } }
    }

    /// Stores those uses that change only the counters of their key pairs, in one transaction. Most uses are of this
    /// kind.
    ///
    /// - Returns: the other uses; all uses if the transaction failed.
    /// - Throws: `storeUnavailable` or `overloaded`.
    private func storeCounters(_ uses: [Use], in round: inout Round) async throws -> [Use] {
        do {
            let changed = try await records.write { transaction in
                let changed = try transaction.keyPairsChanged(by: uses)
                try transaction.addKeyUses(uses.filter { !changed.contains($0.key) })
                return changed
            }
            round.remove(uses.filter { !changed.contains($0.key) })
            return uses.filter { changed.contains($0.key) }
        } catch {
            try round.note(error)
            return uses
        }
    }

    /// Stores uses in one transaction, with the changes that follow from them. If the transaction fails, stores each
    /// use in its own transaction, so that only the uses that cause the failure are lost.
    ///
    /// - Throws: `storeUnavailable` or `overloaded`.
    private func store(_ uses: [Use], in round: inout Round) async throws {
        let (request, time) = (round.request, round.time)
        do {
            try await records.write { transaction in
                for (hash, use) in uses { try store(use, of: hash, at: time, for: request, in: transaction) }
            }
        } catch {
            try round.note(error)
            for use in uses where uses.count > 1 { try await store([use], in: &round) }
        }
        round.remove(uses)
    }

    /// Stores the use of a key pair that the use may change, and makes the changes that follow from the use.
    private func store(
        _ use: KeyUse, of hash: PublicKeyHash, at time: ClockReading, for request: Request,
        in transaction: any Writer
    ) throws {
        let now = time.wall
        guard let keyPair = try transaction.keyPair(hash) else { return }
        let before = try transaction.keyUse(of: hash)
        var after = before ?? KeyUse()
        after.add(use)
        after.confirmPromotion(of: keyPair, by: use.decryptions)
        let revokedKeyEvent = Self.revokedKeyEvent(keyPair, use, before, at: now)
        if revokedKeyEvent != nil { after.revokedUseReportedAt = now }
        try transaction.setKeyUse(after, of: hash)
        if let revokedKeyEvent { try transaction.append(revokedKeyEvent) }
        guard keyPair.purpose == .paymentProcessing, keyPair.state.isActive else { return }
        guard let roll = try transaction.openRoll(of: keyPair.merchantIdentifier, algorithm: keyPair.algorithm) else {
            if try promoteWithoutRoll(
                keyPair, after: use, stored: after, at: time, for: request, in: transaction)
            {
                return
            }
            return try reportStandbyUse(of: keyPair, after: use, stored: after, at: now, in: transaction)
        }
        if hash != roll.to {
            try reportStandbyUse(of: keyPair, after: use, stored: after, at: now, in: transaction)
            guard hash == roll.from else { return }
        }
        if hash == roll.to, let decryptions = use.decryptions {
            let promotion = try automaticPromotion(
                of: keyPair, decryptedAt: decryptions.first, at: time, for: request, in: transaction)
            // The token was decrypted before the promotion. It still confirms the promotion, because the token caused
            // the promotion.
            if promotion != nil { after.promotionConfirmedAt = decryptions.first }
            // Report the first decryption with the new key before its promotion, and the first decryption that confirms
            // its promotion. A use that precedes the promotion may be stored after the promotion.
            let isConfirmedNow = before?.promotionConfirmedAt == nil && after.promotionConfirmedAt != nil
            if isConfirmedNow || (before?.decryptions == nil && keyPair.state == .standby) {
                try transaction.append(
                    Event(
                        .switchObserved, .notice, at: now, merchant: keyPair.merchantIdentifier, key: hash,
                        rollId: roll.rollId,
                        detail:
                            "the first token that Apple encrypted to the new key was decrypted at \(after.promotionConfirmedAt ?? decryptions.first)"
                    ))
            }
            if let promotion {
                try promotion.perform(in: transaction, at: now, for: request)
                // The store removes the confirmation when the key's state changes, so store the confirmation again.
                after.standbyUseReportedAt = nil
                try transaction.setKeyUse(after, of: hash)
            }
        }
        try transaction.updateIdleTime(ofRollWith: keyPair)
    }

    /// Promotes a key pair that decrypted a token, if the merchant has no current key pair of the algorithm, and no
    /// other active key pair with a newer certificate. Such a key pair was generated or imported without a roll.
    ///
    /// - Parameters:
    ///   - use: the use that is being stored.
    ///   - stored: all uses of the key pair, with `use`.
    /// - Returns: whether the key pair was promoted.
    private func promoteWithoutRoll(
        _ keyPair: KeyPair, after use: KeyUse, stored: KeyUse, at time: ClockReading, for request: Request,
        in transaction: any Writer
    ) throws -> Bool {
        guard let decryptions = use.decryptions, keyPair.state == .standby,
            try transaction.currentKeyPair(matching: keyPair) == nil,
            try hasNewestCertificate(keyPair, at: time.wall, in: transaction),
            let promotion = try automaticPromotion(
                of: keyPair, decryptedAt: decryptions.first, at: time, for: request, in: transaction)
        else { return false }
        try promotion.perform(in: transaction, at: time.wall, for: request)
        // The promotion removes the confirmation, so store the confirmation after the promotion.
        var confirmed = stored
        confirmed.promotionConfirmedAt = decryptions.first
        confirmed.standbyUseReportedAt = nil
        try transaction.setKeyUse(confirmed, of: keyPair.publicKeyHash)
        return true
    }

    /// Whether no other active key pair of the same merchant, purpose and algorithm has a newer certificate.
    private func hasNewestCertificate(
        _ keyPair: KeyPair, at now: Timestamp, in reading: any KeyPairReading
    ) throws -> Bool {
        let own = try reading.certificates(of: keyPair.publicKeyHash).certificateInUse(at: now)
        for other in try reading.keyPairs(of: keyPair.merchantIdentifier)
        where other.publicKeyHash != keyPair.publicKeyHash && other.state.isActive && other.purpose == keyPair.purpose
            && other.algorithm == keyPair.algorithm
        {
            let certificate = try reading.certificates(of: other.publicKeyHash).certificateInUse(at: now)
            if let certificate, SuccessorChoice.isNewer(certificate, than: own) { return false }
        }
        return true
    }

    /// The promotion of a key pair because of a token that it decrypted.
    ///
    /// - Returns: nil if the settings do not permit automatic promotions; if the key pair is not `standby`; or if its
    ///   certificate is not newer than that of the current key pair. A token for an older certificate does not show
    ///   that Apple encrypts to that certificate now.
    private func automaticPromotion(
        of keyPair: KeyPair, decryptedAt: Timestamp, at time: ClockReading, for request: Request,
        in transaction: any Writer
    ) throws -> KeyTransitionPlan? {
        let now = time.wall
        guard policy.promotesOnFirstDecryption, keyPair.state == .standby,
            let certificate = try transaction.certificates(of: keyPair.publicKeyHash).certificateInUse(at: now)
        else { return nil }
        let current = try transaction.currentKeyPair(matching: keyPair)
            .flatMap { try transaction.certificates(of: $0.publicKeyHash).certificateInUse(at: now) }
        guard SuccessorChoice.isNewer(certificate, than: current) else { return nil }
        return try KeyTransitionPlan.promotion(
            of: keyPair, reason: "a token for this key was decrypted at \(decryptedAt), so Apple encrypts to it",
            at: time, for: request, in: transaction)
    }

    /// The event that a key was requested after its revocation or destruction; nil if this did not happen, or if such
    /// an event was raised within ``revokedKeyEventInterval``.
    private static func revokedKeyEvent(
        _ keyPair: KeyPair, _ use: KeyUse, _ before: KeyUse?, at now: Timestamp
    ) -> Event? {
        guard keyPair.state == .revoked || keyPair.state == .destroyed, let last = use.lastRequest,
            last > keyPair.stateSince,
            before?.revokedUseReportedAt.map({ $0.adding(revokedKeyEventInterval) <= now }) ?? true
        else { return nil }
        return Event(
            .revokedKeyRequested, .warning, at: now, merchant: keyPair.merchantIdentifier, key: keyPair.publicKeyHash,
            detail:
                "a \(keyPair.state.rawValue) key was requested at \(last): if payments are refused, "
                + (keyPair.state == .revoked
                    ? "check whether the revocation was a mistake; 'key restore' undoes it"
                    : "their tokens were encrypted to a destroyed key: check which certificate is activated at Apple")
        )
    }
}
