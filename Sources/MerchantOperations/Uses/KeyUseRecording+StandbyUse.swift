import MerchantCore
import Vocabulary

extension KeyUseRecording {
    /// The shortest time between two events about the use of the same standby key pair. For a time after a switch at
    /// Apple, tokens for the former key pair still arrive, and must not look like further switches.
    package static let standbyUseEventInterval = Duration.seconds(86_400)

    /// Raises an event if a token shows that Apple encrypts to a standby key pair that the daemon does not promote: see
    /// ``StandbyKeyUse``. Raises it once for each switch at Apple to this key pair.
    ///
    /// - Parameters:
    ///   - keyPair: a key pair that is not the new key pair of an open roll.
    ///   - use: the use that is being stored.
    ///   - stored: all uses of the key pair, with `use`.
    func reportStandbyUse(
        of keyPair: KeyPair, after use: KeyUse, stored: KeyUse, at now: Timestamp, in transaction: any Writer
    ) throws {
        guard use.decryptions != nil, keyPair.state == .standby, let decryptions = stored.decryptions else { return }
        let current = try transaction.currentKeyPair(matching: keyPair)
        let currentUse = try current.flatMap { try transaction.keyUse(of: $0.publicKeyHash) }
        guard
            let last = StandbyKeyUse.lastDecryption(
                of: keyPair, use: stored, current: current, currentUse: currentUse)
        else { return }
        var reported = stored
        if let current, try mayBeLate(decryptions, of: keyPair, current, currentUse, at: now, in: transaction) {
            // An earlier report was about the time before the current key pair replaced this one. Forget the report, so
            // that a later switch at Apple is reported.
            guard stored.standbyUseReportedAt != nil else { return }
            reported.standbyUseReportedAt = nil
            return try transaction.setKeyUse(reported, of: keyPair.publicKeyHash)
        }
        if let reportedAt = stored.standbyUseReportedAt {
            // Apple switched again only if it has encrypted to the current key pair since the last event.
            guard let lastOfCurrent = currentUse?.decryptions?.last, lastOfCurrent > reportedAt,
                reportedAt.adding(Self.standbyUseEventInterval) <= now
            else { return }
        }
        reported.standbyUseReportedAt = now
        try transaction.setKeyUse(reported, of: keyPair.publicKeyHash)
        try transaction.append(.standbyUsed(keyPair, last: last, current: current, at: now))
    }

    /// Whether the tokens may be late: encrypted before the current key pair replaced this one.
    private func mayBeLate(
        _ decryptions: Occurrences, of keyPair: KeyPair, _ current: KeyPair, _ currentUse: KeyUse?,
        at now: Timestamp, in reading: any KeyPairReading
    ) throws -> Bool {
        func certificate(of keyPair: KeyPair) throws -> StoredCertificate? {
            try reading.certificates(of: keyPair.publicKeyHash).certificateInUse(at: now)
        }
        return StandbyKeyUse.mayBeLate(
            decryptions, for: try certificate(of: keyPair), current: current, currentUse: currentUse,
            currentCertificate: try certificate(of: current), quietPeriod: policy.quietPeriod)
    }
}
