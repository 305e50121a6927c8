package import MerchantCore
import Vocabulary

extension MerchantOperations {
    /// How many keys' uses one transaction stores: many, since each costs a sync and empties the readers' caches; not more,
    /// since an admin's change waits for it, some 20 ms.
    private static let usesInOneWrite = 1024
    /// How often at most an event tells that a revoked key was asked for: hashes are public, anybody may ask.
    package static let alarmInterval = Duration.seconds(86_400)

    /// Stores what was seen of keys' uses, and does what follows from it: a successful decryption with a roll's new key
    /// promotes it or confirms its promotion, any use of the old key restarts the quiet period, and a request for a revoked
    /// key raises an event.
    ///
    /// What cannot be stored is kept for the next time.
    ///
    /// - Returns: how many keys were used.
    @discardableResult
    package func storeUses(as caller: Caller) async throws -> Int {
        let collection = uses.collect()
        defer { uses.forget(collection) }
        let gathered = await inStoredOrder(collection.uses)
        let request = Request(caller: caller, requestId: "observed-use")
        let time = confirmedTime.reading()
        var rest = gathered[...]
        var failure: (any Error)?
        while !rest.isEmpty {
            let some = Array(rest.prefix(Self.usesInOneWrite))
            do {
                try await repository.write { transaction in
                    for (hash, use) in some { try note(use, of: hash, at: time, for: request, in: transaction) }
                }
            } catch let error as MerchantError where error.code == .storeUnavailable || error.code == .overloaded {
                for (hash, use) in rest { uses.add(use, for: hash) }
                throw error
            } catch {
                failure = failure ?? error
                try await storeOneByOne(rest, of: some.count, at: time, for: request)
            }
            rest = rest.dropFirst(some.count)
        }
        if let failure { throw failure }
        return gathered.count
    }

    /// One after the other as they lie in storage, so that a transaction over many keys writes few pages; in any order where
    /// that cannot be read, since the writes tell what is wrong.
    private func inStoredOrder(_ gathered: [PublicKeyHash: KeyUse]) async -> [(key: PublicKeyHash, value: KeyUse)] {
        let hashes = Array(gathered.keys)
        let ordered = try? await repository.read { try $0.inStoredOrder(hashes) }
        return (ordered ?? hashes).compactMap { hash in gathered[hash].map { (hash, $0) } }
    }

    /// What one key's use leads to may fail; its counts are lost then, and no other key's.
    ///
    /// - Throws: where the store fails, with everything that is left kept for the next time. What else fails was thrown for
    ///   the group already.
    private func storeOneByOne(
        _ rest: ArraySlice<(key: PublicKeyHash, value: KeyUse)>, of count: Int, at time: ClockReading,
        for request: Request
    ) async throws {
        for (index, (hash, use)) in rest.prefix(count).enumerated() {
            do {
                try await repository.write { try note(use, of: hash, at: time, for: request, in: $0) }
            } catch let error as MerchantError where error.code == .storeUnavailable || error.code == .overloaded {
                for (hash, use) in rest.dropFirst(index) { uses.add(use, for: hash) }
                throw error
            } catch { continue }
        }
    }

    private func note(
        _ use: KeyUse, of hash: PublicKeyHash, at time: ClockReading, for request: Request,
        in transaction: any MerchantTransaction
    ) throws {
        let now = time.wall
        // The use is a few seconds old. A clock that was set back must not make it look older.
        let use = use.shifted(by: time.setBack, notPast: time.latest)
        guard try transaction.useHasConsequences(of: hash) else { return try transaction.addKeyUse(use, of: hash) }
        guard let keyPair = try transaction.keyPair(hash) else { return }
        let before = try transaction.keyUse(of: hash)
        var after = before ?? KeyUse()
        after.add(use)
        after.confirmPromotion(of: keyPair, by: use.decryptions)
        let alarm = Self.alarm(keyPair, use, before, at: now)
        if alarm != nil { after.alarmedAt = now }
        try transaction.setKeyUse(after, of: hash)
        if let alarm { try transaction.append(alarm) }
        guard keyPair.purpose == .paymentProcessing, keyPair.state.isActive,
            let roll = try transaction.openRoll(of: keyPair.merchantIdentifier, algorithm: keyPair.algorithm),
            hash == roll.to || hash == roll.from
        else { return }
        if hash == roll.to, let proof = use.decryptions {
            let promotion = try automaticPromotion(
                of: keyPair, decryptedAt: proof.first, at: time, for: request, in: transaction)
            // The token arrived before the promotion, but caused it.
            if promotion != nil { after.promotionConfirmedAt = proof.first }
            let isConfirmedNow = before?.promotionConfirmedAt == nil && after.promotionConfirmedAt != nil
            if before?.decryptions == nil || isConfirmedNow {
                try transaction.append(
                    Event(
                        .switchObserved, .notice, at: now, merchant: keyPair.merchantIdentifier, key: hash,
                        rollId: roll.rollId,
                        detail:
                            "the first token that Apple encrypted to the new key was decrypted at \(after.promotionConfirmedAt ?? proof.first)"
                    ))
            }
            if let promotion {
                try promotion.perform(in: transaction, at: now, for: request)
                // The store forgot it with the change of state.
                try transaction.setKeyUse(after, of: hash)
            }
        }
        try transaction.refreshIdleTime(of: keyPair)
    }

    /// - Returns: nil unless the key pair is `standby` and Apple can have switched to it: a token for a certificate that is
    ///   older than the current one says nothing about the present.
    private func automaticPromotion(
        of keyPair: KeyPair, decryptedAt: Timestamp, at time: ClockReading, for request: Request,
        in transaction: any MerchantTransaction
    ) throws -> KeyTransitionPlan? {
        let now = time.wall
        guard rolls.promotesOnProof, keyPair.state == .standby,
            let certificate = try transaction.certificates(of: keyPair.publicKeyHash).answering(at: now)
        else { return nil }
        let current = try transaction.currentKeyPair(likewise: keyPair)
            .flatMap { try transaction.certificates(of: $0.publicKeyHash).answering(at: now) }
        guard SuccessorChoice.isYounger(certificate, than: current) else { return nil }
        return try Self.promotion(
            of: keyPair, reason: "a token for it was decrypted at \(decryptedAt): Apple encrypts to it", at: time,
            for: request, in: transaction)
    }

    private static func alarm(_ keyPair: KeyPair, _ use: KeyUse, _ before: KeyUse?, at now: Timestamp) -> Event? {
        guard keyPair.state == .revoked || keyPair.state == .destroyed, let last = use.lastRequest,
            last > keyPair.stateSince, before?.alarmedAt.map({ $0.adding(alarmInterval) <= now }) ?? true
        else { return nil }
        return Event(
            .revokedKeyRequested, .warning, at: now, merchant: keyPair.merchantIdentifier, key: keyPair.publicKeyHash,
            detail:
                "a \(keyPair.state.rawValue) key was asked for at \(last): if payments are refused, "
                + (keyPair.state == .revoked
                    ? "key restore takes the revocation back"
                    : "they were encrypted to a key that cannot come back: see which certificate is activated at Apple")
        )
    }
}
