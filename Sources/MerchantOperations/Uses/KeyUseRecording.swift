package import MerchantCore
import Vocabulary

/// Stores the observed uses of key pairs and performs their consequences, such as promotions.
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

    /// The most keys whose uses one transaction stores. Many small transactions are slow, because each one waits for
    /// the disk and invalidates the readers' page caches. A large one delays others: an admin's change waits about 20
    /// ms for one of this size.
    private static let usesInOneWrite = 1024
    /// The shortest time between two events about requests for the same revoked key. Any caller can send such requests,
    /// because hashes are public.
    package static let alarmInterval = Duration.seconds(86_400)

    /// Stores the uses that were observed since the last call. A successful decryption with a roll's new key promotes
    /// it or confirms its promotion, any use of the old key restarts the quiet period, and a request for a revoked key
    /// raises an event.
    ///
    /// If the store is unavailable, the uses are kept for the next call.
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
                    for (hash, use) in some { try store(use, of: hash, at: time, for: request, in: transaction) }
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

    /// Sorts uses by the rows of their keys, so that a transaction over many keys writes few pages.
    ///
    /// If the rows cannot be read, this returns the uses unsorted. The writes that follow report the failure.
    private func inStoredOrder(_ gathered: [PublicKeyHash: KeyUse]) async -> [(key: PublicKeyHash, value: KeyUse)] {
        let hashes = Array(gathered.keys)
        let ordered = try? await records.read { try $0.inStoredOrder(hashes) }
        return (ordered ?? hashes).compactMap { hash in gathered[hash].map { (hash, $0) } }
    }

    /// Stores the first `count` uses of `rest`, each in its own transaction, after a transaction over all of them
    /// failed.
    ///
    /// If the consequences of one key's use fail, only the counts of this key are lost.
    ///
    /// - Throws: `storeUnavailable` or `overloaded`, after keeping the uses that are not stored for the next call. No
    ///   other failure is thrown, because the caller reports the one of the transaction over all.
    private func storeOneByOne(
        _ rest: ArraySlice<(key: PublicKeyHash, value: KeyUse)>, of count: Int, at time: ClockReading,
        for request: Request
    ) async throws {
        for (index, (hash, use)) in rest.prefix(count).enumerated() {
            do {
                try await records.write { try store(use, of: hash, at: time, for: request, in: $0) }
            } catch let error as MerchantError where error.code == .storeUnavailable || error.code == .overloaded {
                for (hash, use) in rest.dropFirst(index) { uses.add(use, for: hash) }
                throw error
            } catch { continue }
        }
    }

    /// Stores the use of one key pair and performs its consequences.
    private func store(
        _ use: KeyUse, of hash: PublicKeyHash, at time: ClockReading, for request: Request,
        in transaction: any Writer
    ) throws {
        let now = time.wall
        // The use has the time of the machine's clock. If that clock was set back, the use must not seem older than it
        // is.
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
            // The token was decrypted before the promotion. It also confirms the promotion, because it caused it.
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
                // The store removes the confirmation when the key's state changes, so store it again.
                try transaction.setKeyUse(after, of: hash)
            }
        }
        try transaction.refreshIdleTime(of: keyPair)
    }

    /// The promotion of a key pair because of a token that it decrypted.
    ///
    /// - Returns: nil if the settings do not permit it, if the key pair is not `standby`, or if its certificate is not
    ///   newer than that of the current key pair: a token for an older certificate does not show that Apple encrypts to
    ///   it now.
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

    /// The event that a revoked or destroyed key was requested; nil if there is nothing to report.
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
