import MerchantCore
import Vocabulary

/// The effects of changes of key pairs on the merchant's rolls: whether the open roll ends, and whether a new roll
/// starts.
struct RollEffects {
    /// The open roll, if the changes end it.
    private(set) var endingRoll: (roll: Roll, outcome: Roll.Outcome, reason: String)?
    /// The old and the new key pair of the roll that starts; nil if no roll starts.
    private(set) var startingRoll: (from: KeyPair, to: PublicKeyHash)?

    /// - Parameter reading: the store as it is before the changes.
    init(of changes: [KeyChange], in reading: any KeyPairReading & RollReading) throws {
        let transitions = changes.filter {
            $0.before.state != $0.after.state && $0.before.purpose == .paymentProcessing
        }
        guard let first = transitions.first?.before else { return }
        let changedKeyPairs = Dictionary(uniqueKeysWithValues: transitions.map { ($0.before.publicKeyHash, $0.after) })
        let open = try reading.openRoll(of: first.merchantIdentifier, algorithm: first.algorithm)
        let promoted = transitions.first { $0.after.state == .current }?.before
        let superseded = transitions.first { $0.before.state == .current && $0.after.state == .retiring }?.before
        if let open { try decideEnd(of: open, changedKeyPairs, promoted, in: reading) }
        // If the open roll stays open or finishes, the changes belong to that roll, so no other roll starts.
        guard open == nil || endingRoll?.outcome == .abandoned else { return }
        if let promoted, let superseded {
            // A promotion outside of a roll starts a roll, so that the old key is revoked only when it is no longer in
            // use.
            startingRoll = (superseded, promoted.publicKeyHash)
        } else if open == nil, let restored = transitions.first(where: { $0.after.state == .retiring })?.after,
            let current = try reading.currentKeyPair(matching: restored)
        {
            // The restored key may be in use again, so a roll starts that ends when the restored key is revoked.
            startingRoll = (restored, current.publicKeyHash)
        }
    }

    /// Sets ``endingRoll`` if the changes end the open roll.
    ///
    /// - Parameter changedKeyPairs: the key pairs as they are after the changes.
    private mutating func decideEnd(
        of open: Roll, _ changedKeyPairs: [PublicKeyHash: KeyPair], _ promoted: KeyPair?,
        in reading: any KeyPairReading
    ) throws {
        func state(_ hash: PublicKeyHash) throws -> KeyState? {
            try changedKeyPairs[hash]?.state ?? reading.keyPair(hash)?.state
        }
        if let promoted, promoted.publicKeyHash != open.to, promoted.publicKeyHash != open.from {
            endingRoll = (open, .abandoned, "another key was promoted: \(promoted.publicKeyHash)")
            return
        }
        guard let to = try state(open.to),
            let outcome = RollLifecycle.outcome(from: try open.from.flatMap(state), to: to)
        else { return }
        endingRoll = (open, outcome, Self.reason(outcome, open, changedKeyPairs))
    }

    private static func reason(
        _ outcome: Roll.Outcome, _ roll: Roll, _ changedKeyPairs: [PublicKeyHash: KeyPair]
    ) -> String {
        switch outcome {
        case .abandoned: "the new key was revoked: \(changedKeyPairs[roll.to]?.revocationReason ?? "")"
        case .finished:
            if let old = roll.from.flatMap({ changedKeyPairs[$0] }) {
                "the old key was revoked: \(old.revocationReason ?? "")"
            } else {
                "the new key was promoted, and no old key is in use"
            }
        }
    }

    /// Warnings for the caller. A dry run returns the same ones.
    var consequences: [String] {
        var consequences: [String] = []
        if let endingRoll {
            let isFinished = endingRoll.outcome == .finished
            consequences.append(
                "this \(isFinished ? "finishes" : "abandons") roll \(endingRoll.roll.rollId)"
                    + (isFinished
                        ? ", after which the daemon generates the key pairs that the merchant lacks to reach its target"
                        : ""))
        }
        if let startingRoll {
            consequences.append(
                "this starts a roll from key \(startingRoll.from.publicKeyHash) to key \(startingRoll.to): 'roll finish' revokes the old key when it is no longer used"
            )
        }
        return consequences
    }

    /// Closes ``endingRoll``, if there is one.
    func endRoll(in transaction: any RollWriting & ChangeRecording, at now: Timestamp, for request: Request) throws {
        guard let endingRoll else { return }
        try transaction.endRoll(
            endingRoll.roll, endingRoll.outcome, reason: endingRoll.reason, at: now, for: request)
    }

    /// Opens ``startingRoll``, if there is one.
    func startRoll(in transaction: any RollWriting & ChangeRecording, at now: Timestamp, for request: Request) throws {
        guard let startingRoll else { return }
        _ = try transaction.startRoll(from: startingRoll.from, to: startingRoll.to, at: now, for: request)
    }
}

extension RollWriting where Self: ChangeRecording {
    /// Opens a roll, and stores its audit record and its event.
    func startRoll(
        of merchant: MerchantIdentifier, algorithm: KeyAlgorithm, from: PublicKeyHash?, to: PublicKeyHash,
        at now: Timestamp, for request: Request
    ) throws -> Roll {
        let roll = try insertRoll(of: merchant, algorithm: algorithm, from: from, to: to, at: now)
        try append(
            request.auditEntry(
                .rollStarted, at: now, merchant: merchant, key: to, after: "roll \(roll.rollId)",
                reason: from.map { "from \($0)" } ?? "the merchant's first key"))
        try append(
            Event(
                .rollStarted, .notice, at: now, merchant: merchant, key: to, rollId: roll.rollId,
                detail: "roll \(roll.rollId) to key \(to) started\(from.map { ", from key \($0)" } ?? "")"))
        return roll
    }

    func startRoll(from: KeyPair, to: PublicKeyHash, at now: Timestamp, for request: Request) throws -> Roll {
        try startRoll(
            of: from.merchantIdentifier, algorithm: from.algorithm, from: from.publicKeyHash, to: to, at: now,
            for: request)
    }

    /// Closes a roll, and stores its audit record and its event.
    func endRoll(
        _ roll: Roll, _ outcome: Roll.Outcome, reason: String, at now: Timestamp, for request: Request
    ) throws {
        var endedRoll = roll
        endedRoll.outcome = outcome
        endedRoll.endedAt = now
        endedRoll.reason = reason
        endedRoll.remindAt = nil
        try update(endedRoll)
        let isFinished = outcome == .finished
        try append(
            request.auditEntry(
                isFinished ? .rollFinished : .rollAbandoned, at: now, merchant: roll.merchantIdentifier, key: roll.to,
                before: "roll \(roll.rollId)", after: outcome.rawValue, reason: reason))
        try append(
            Event(
                isFinished ? .rollFinished : .rollAbandoned, .notice, at: now, merchant: roll.merchantIdentifier,
                key: roll.to, rollId: roll.rollId, detail: "roll \(roll.rollId) is \(outcome.rawValue): \(reason)"))
    }
}

extension RollWriting where Self: KeyPairReading & KeyUseReading {
    /// Updates ``Roll/idleSince`` of the open roll of the key pair's merchant and algorithm: the time at which the
    /// roll's quiet period (without requests for the old key) began. Called when a key pair of the roll, or the use of
    /// such a key pair, has changed.
    func updateIdleTime(ofRollWith keyPair: KeyPair) throws {
        guard keyPair.purpose == .paymentProcessing,
            var roll = try openRoll(of: keyPair.merchantIdentifier, algorithm: keyPair.algorithm),
            let from = try roll.from.flatMap({ try self.keyPair($0) }), let to = try self.keyPair(roll.to)
        else { return }
        let idleSince = RollLifecycle.idleSince(
            from: from, fromUse: try keyUse(of: from.publicKeyHash), to: to, toUse: try keyUse(of: roll.to))
        guard idleSince != roll.idleSince else { return }
        roll.idleSince = idleSince
        try update(roll)
    }
}
