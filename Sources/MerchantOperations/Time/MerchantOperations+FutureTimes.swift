import MerchantCore
import Vocabulary

extension MerchantOperations {
    /// Corrects times in the future that keep open rolls from becoming quiet: a clock that ran ahead left them. Now that it is
    /// right they become the present, which is the latest that they can have been.
    ///
    /// - Returns: how many rolls had such a time.
    func correctFutureTimes(limit: Int) async throws -> Int {
        let latest = confirmedTime.reading().latest
        let limitTime = latest.adding(ConfirmedTime.tolerance)
        let found = try await repository.read { try $0.rollsIdle(after: limitTime, limit: limit) }
        guard !found.isEmpty else { return 0 }
        try await repository.write { transaction in
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
        _ hash: PublicKeyHash, notAfter latest: Timestamp, in transaction: any MerchantTransaction
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
