package import MerchantCore
import Vocabulary

/// Stores the observed uses of key pairs and performs their consequences.
package struct KeyUseRecording: Sendable {
    package typealias Writer = KeyTransitionWriting & KeyUseWriting
    package typealias Records = Transactions<any KeyUseReading, any Writer>

    private let records: Records
    private let uses: KeyUses
    private let policy: RollPolicy
    private let confirmedTime: ConfirmedTime

    package init(records: Records, uses: KeyUses, policy: RollPolicy, confirmedTime: ConfirmedTime) {
        self.records = records
        self.uses = uses
        self.policy = policy
        self.confirmedTime = confirmedTime
    }

    /// How many keys' uses one transaction stores. Each transaction costs a sync and invalidates the readers' page caches; an
    /// admin's change waits about 20 ms for one of this size.
    private static let usesInOneWrite = 1024
    /// The shortest time between two events about requests for the same revoked key. Any caller can send such requests,
    /// because hashes are public.
    package static let alarmInterval = Duration.seconds(86_400)

    /// Stores the uses that were observed since the last call. A successful decryption with a roll's new key promotes it or
    /// confirms its promotion, any use of the old key restarts the quiet period, and a request for a revoked key raises an
    /// event.
    ///
    /// Uses that cannot be stored are kept for the next call.
    ///
    /// - Returns: the number of keys that were used.
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
                try await records.write { transaction in
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

    /// Sorted by their rows, so that a transaction over many keys writes few pages; unsorted if that cannot be read, because
    /// then the writes report the failure.
    private func inStoredOrder(_ gathered: [PublicKeyHash: KeyUse]) async -> [(key: PublicKeyHash, value: KeyUse)] {
        let hashes = Array(gathered.keys)
        let ordered = try? await records.read { try $0.inStoredOrder(hashes) }
        return (ordered ?? hashes).compactMap { hash in gathered[hash].map { (hash, $0) } }
    }

    /// The consequences of one key's use may fail. Then only this key's counts are lost.
    ///
    /// - Throws: if the store fails, after keeping the rest for the next call. Other failures were thrown for the group
    ///   already.
    private func storeOneByOne(
        _ rest: ArraySlice<(key: PublicKeyHash, value: KeyUse)>, of count: Int, at time: ClockReading,
        for request: Request
    ) async throws {
        for (index, (hash, use)) in rest.prefix(count).enumerated() {
            do {
                try await records.write { try note(use, of: hash, at: time, for: request, in: $0) }
            } catch let error as MerchantError where error.code == .storeUnavailable || error.code == .overloaded {
                for (hash, use) in rest.dropFirst(index) { uses.add(use, for: hash) }
                throw error
            } catch { continue }
        }
    }

    private func note(
        _ use: KeyUse, of hash: PublicKeyHash, at time: ClockReading, for request: Request,
        in transaction: any Writer
    ) throws {
        let now = time.wall
        // The use is a few seconds old. A clock that was set back must not make it older.
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
        if hash == roll.to, let decryptions = use.decryptions {
            let promotion = try automaticPromotion(
                of: keyPair, decryptedAt: decryptions.first, at: time, for: request, in: transaction)
            // The token arrived before the promotion, and caused it.
            if promotion != nil { after.promotionConfirmedAt = decryptions.first }
            let isConfirmedNow = before?.promotionConfirmedAt == nil && after.promotionConfirmedAt != nil
            if before?.decryptions == nil || isConfirmedNow {
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
                // The store removes the confirmation when the state changes.
                try transaction.setKeyUse(after, of: hash)
            }
        }
        try transaction.refreshIdleTime(of: keyPair)
    }

    /// - Returns: nil unless the key pair is `standby` and its certificate is newer than the current one. A token for an older
    ///   certificate does not show that Apple uses it now.
    private func automaticPromotion(
        of keyPair: KeyPair, decryptedAt: Timestamp, at time: ClockReading, for request: Request,
        in transaction: any Writer
    ) throws -> KeyTransitionPlan? {
        let now = time.wall
        guard policy.promotesOnFirstDecryption, keyPair.state == .standby,
            let certificate = try transaction.certificates(of: keyPair.publicKeyHash).answering(at: now)
        else { return nil }
        let current = try transaction.currentKeyPair(matching: keyPair)
            .flatMap { try transaction.certificates(of: $0.publicKeyHash).answering(at: now) }
        guard SuccessorChoice.isYounger(certificate, than: current) else { return nil }
        return try KeyTransitionPlan.promotion(
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
                "a \(keyPair.state.rawValue) key was requested at \(last): if payments are refused, "
                + (keyPair.state == .revoked
                    ? "'key restore' undoes the revocation"
                    : "they were encrypted to a destroyed key: check which certificate is activated at Apple")
        )
    }
}
