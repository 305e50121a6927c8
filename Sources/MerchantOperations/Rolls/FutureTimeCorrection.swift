import MerchantCore
import Vocabulary

/// Corrects times in the future, stored while the clock was ahead, because they keep open rolls from becoming quiet.
///
/// They are set to the present, the latest time at which they can have happened.
struct FutureTimeCorrection {
    let records: RenewalSchedule.Records

    /// - Returns: the number of rolls with such a time.
    func run(at time: ClockReading, limit: Int) async throws -> Int {
        let latest = time.latest
        let limitTime = latest.adding(ConfirmedTime.tolerance)
        let found = try await records.read { try $0.rollsIdle(after: limitTime, limit: limit) }
        guard !found.isEmpty else { return 0 }
        try await records.write { transaction in
            for roll in found {
                for hash in [roll.from, roll.to].compactMap(\.self) {
                    try Self.correct(hash, notAfter: latest, in: transaction)
                }
                try transaction.refreshIdleTime(of: try transaction.existingKeyPair(roll.to))
            }
        }
        return found.count
    }

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
