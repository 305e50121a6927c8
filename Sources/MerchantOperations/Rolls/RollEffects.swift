import MerchantCore
import Vocabulary

/// The effects of key pair transitions on the merchant's rolls: whether the open roll ends, and whether a new roll
/// starts.
struct RollEffects {
    private(set) var ending: (roll: Roll, outcome: Roll.Outcome, reason: String)?
    private(set) var opening: (from: KeyPair, to: PublicKeyHash)?

    /// - Parameter reading: the store as it is before the changes.
    init(of changes: [KeyChange], in reading: any KeyPairReading & RollReading) throws {
        let moved = changes.filter { $0.before.state != $0.after.state && $0.before.purpose == .paymentProcessing }
        guard let changed = moved.first?.before else { return }
        let states = Dictionary(uniqueKeysWithValues: moved.map { ($0.before.publicKeyHash, $0.after) })
        let open = try reading.openRoll(of: changed.merchantIdentifier, algorithm: changed.algorithm)
        let promoted = moved.first { $0.after.state == .current }?.before
        let superseded = moved.first { $0.before.state == .current && $0.after.state == .retiring }?.before
        if let open { try decideEnding(of: open, states, promoted, in: reading) }
        guard open == nil || ending?.outcome == .abandoned else { return }
        if let promoted, let superseded {
            // A promotion outside of a roll starts a roll, so that the old key is revoked only when it is no longer in
            // use.
            opening = (superseded, promoted.publicKeyHash)
        } else if open == nil, let restored = moved.first(where: { $0.after.state == .retiring })?.after,
            let current = try reading.currentKeyPair(matching: restored)
        {
            // The restored key may be in use again, so a roll starts that ends with its revocation.
            opening = (restored, current.publicKeyHash)
        }
    }

    /// Sets ``ending`` if the changes end the open roll.
    private mutating func decideEnding(
        of open: Roll, _ states: [PublicKeyHash: KeyPair], _ promoted: KeyPair?, in reading: any KeyPairReading
    ) throws {
        func state(_ hash: PublicKeyHash) throws -> KeyState? {
            try states[hash]?.state ?? reading.keyPair(hash)?.state
        }
        if let promoted, promoted.publicKeyHash != open.to, promoted.publicKeyHash != open.from {
            ending = (open, .abandoned, "another key was promoted: \(promoted.publicKeyHash)")
            return
        }
        guard let to = try state(open.to),
            let outcome = RollLifecycle.ending(from: try open.from.flatMap(state), to: to)
        else { return }
        ending = (open, outcome, Self.reason(outcome, open, states))
    }

    private static func reason(
        _ outcome: Roll.Outcome, _ roll: Roll, _ states: [PublicKeyHash: KeyPair]
    ) -> String {
        switch outcome {
        case .abandoned: "the new key was revoked: \(states[roll.to]?.revocationReason ?? "")"
        case .finished:
            if let old = roll.from.flatMap({ states[$0] }) {
                "the old key was revoked: \(old.revocationReason ?? "")"
            } else {
                "the new key was promoted, and no old key is in use"
            }
        }
    }

    /// Warnings for the caller, also of a dry run.
    var consequences: [String] {
        guard let ending else { return [] }
        return [
            "this \(ending.outcome == .finished ? "finishes" : "abandons") roll \(ending.roll.rollId)"
        ]
    }

    /// Closes the roll that ends.
    func end(in transaction: any RollWriting & ChangeRecording, at now: Timestamp, for request: Request) throws {
        guard let ending else { return }
        try transaction.end(ending.roll, ending.outcome, reason: ending.reason, at: now, for: request)
    }

    /// Opens the roll that starts.
    func begin(in transaction: any RollWriting & ChangeRecording, at now: Timestamp, for request: Request) throws {
        guard let opening else { return }
        _ = try transaction.beginRoll(from: opening.from, to: opening.to, at: now, for: request)
    }
}

extension RollWriting where Self: ChangeRecording {
    /// Opens a roll, and stores its audit record and its event.
    func beginRoll(
        of merchant: MerchantIdentifier, algorithm: KeyAlgorithm, from: PublicKeyHash?, to: PublicKeyHash,
        at now: Timestamp, for request: Request
    ) throws -> Roll {
        let roll = try insertRoll(of: merchant, algorithm: algorithm, from: from, to: to, at: now)
        try append(
            request.entry(
                .rollStarted, at: now, merchant: merchant, key: to, after: "roll \(roll.rollId)",
                reason: from.map { "from \($0)" } ?? "the merchant's first key"))
        try append(
            Event(
                .rollStarted, .notice, at: now, merchant: merchant, key: to, rollId: roll.rollId,
                detail: "roll \(roll.rollId) to key \(to) began\(from.map { ", from key \($0)" } ?? "")"))
        return roll
    }

    func beginRoll(from: KeyPair, to: PublicKeyHash, at now: Timestamp, for request: Request) throws -> Roll {
        try beginRoll(
            of: from.merchantIdentifier, algorithm: from.algorithm, from: from.publicKeyHash, to: to, at: now,
            for: request)
    }

    /// Closes a roll, and stores its audit record and its event.
    func end(
        _ roll: Roll, _ outcome: Roll.Outcome, reason: String, at now: Timestamp, for request: Request
    ) throws {
        var ended = roll
        ended.outcome = outcome
        ended.endedAt = now
        ended.reason = reason
        ended.remindAt = nil
        try update(ended)
        let isFinished = outcome == .finished
        try append(
            request.entry(
                isFinished ? .rollFinished : .rollAbandoned, at: now, merchant: roll.merchantIdentifier, key: roll.to,
                before: "roll \(roll.rollId)", after: outcome.rawValue, reason: reason))
        try append(
            Event(
                isFinished ? .rollFinished : .rollAbandoned, .notice, at: now, merchant: roll.merchantIdentifier,
                key: roll.to, rollId: roll.rollId, detail: "roll \(roll.rollId) is \(outcome.rawValue): \(reason)"))
    }
}

extension RollWriting where Self: KeyPairReading & KeyUseReading {
    /// Computes ``Roll/idleSince`` again for the open roll of the key pair's merchant and algorithm: the time of the
    /// last request for the roll's old key.
    func refreshIdleTime(of keyPair: KeyPair) throws {
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
