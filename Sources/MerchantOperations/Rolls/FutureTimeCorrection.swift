import MerchantCore
import Vocabulary

/// Sets stored times that are in the future to the present: the times of last use and of the last change of state of
/// the key pairs of each open roll whose ``Roll/idleSince`` is in the future.
///
/// Such times were stored while the machine's clock was ahead. With such a time, a roll's old key would seem to be in
/// use although nobody requests the key.
struct FutureTimeCorrection {
    let records: RenewalSchedule.Records

    /// - Returns: the number of open rolls that had such a time, at most `limit`.
    func run(at time: ClockReading, limit: Int) async throws -> Int {
        let latest = time.latest
        let rolls = try await records.read {
            try $0.rollsIdleSince(after: latest.adding(ConfirmedTime.tolerance), limit: limit)
        }
        guard !rolls.isEmpty else { return 0 }
        try await records.write { transaction in
            for roll in rolls {
                for hash in [roll.from, roll.to].compactMap(\.self) {
                    try Self.correct(hash, notAfter: latest, in: transaction)
                }
                try transaction.updateIdleTime(ofRollWith: try transaction.existingKeyPair(roll.to))
            }
        }
        return rolls.count
    }

    /// Corrects the times of one key pair.
    private static func correct(
        _ hash: PublicKeyHash, notAfter latest: Timestamp, in transaction: any KeyPairWriting & KeyUseWriting
    ) throws {
        if let use = try transaction.keyUse(of: hash), use.notAfter(latest) != use {
            try transaction.setKeyUse(use.notAfter(latest), of: hash)
        }
        var keyPair = try transaction.existingKeyPair(hash)
        guard keyPair.stateSince > latest else { return }
        keyPair.stateSince = latest
        try transaction.update(keyPair)
    }
}
