import MerchantCore
import Vocabulary

/// Corrects stored times of key pairs and their uses that are in the future.
///
/// They were stored while the machine's clock was ahead, and would keep open rolls from becoming quiet. They are set to
/// the present, because nothing can have happened later.
struct FutureTimeCorrection {
    let records: RenewalSchedule.Records

    /// - Returns: the number of open rolls that had such a time, at most `limit`.
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
