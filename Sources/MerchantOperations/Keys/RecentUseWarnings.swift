import MerchantCore
import Vocabulary

/// The warnings about the observed uses of a payment processing key pair, for an admin who revokes or destroys it.
struct RecentUseWarnings {
    /// The uses that may not be stored yet.
    let uses: KeyUses
    /// After this time without a use, a key pair counts as not used any more, as in a roll: ``RollPolicy/quietPeriod``.
    let quietPeriod: Duration

    /// Warnings for a revocation: when the key pair decrypted its last token, and whether this was so recent that more
    /// tokens may arrive. Empty if the key pair never decrypted a token, or is not active.
    func ofRevocation(_ keyPair: KeyPair, at time: ClockReading, in reading: any KeyUseReading) throws -> [String] {
        guard keyPair.purpose == .paymentProcessing, keyPair.state.isActive,
            let last = try lastDecryption(with: keyPair, in: reading)
        else { return [] }
        guard isRecent(last, at: time) else { return ["the last token for this key was decrypted at \(last)"] }
        return [
            "this key is in use: the last token for it was decrypted at \(last), within the last \(quietPeriod.daysHoursMinutes); from now on, the daemon refuses the tokens that are encrypted to this key, and their payments fail"
        ]
    }

    /// Warnings for a destruction: when the key pair decrypted its last token, and when a decryptor requested it last,
    /// if that was recent and after the revocation. Empty if neither happened, or if the key pair is not revoked.
    func ofDestruction(_ keyPair: KeyPair, at time: ClockReading, in reading: any KeyUseReading) throws -> [String] {
        guard keyPair.purpose == .paymentProcessing, keyPair.state == .revoked else { return [] }
        let decrypted = try lastDecryption(with: keyPair, in: reading).map {
            "the last token for this key was decrypted at \($0)"
        }
        let hash = keyPair.publicKeyHash
        let requested = [try reading.keyUse(of: hash)?.lastRequest, uses.lastUse(of: hash)].compactMap(\.self).max()
        guard let requested, requested > keyPair.stateSince, isRecent(requested, at: time) else {
            return [decrypted].compactMap(\.self)
        }
        return [decrypted].compactMap(\.self) + [
            "a decryptor requested this key at \(requested), after its revocation: if Apple still encrypts tokens to it, no one can decrypt them once the private key is destroyed"
        ]
    }

    private func lastDecryption(with keyPair: KeyPair, in reading: any KeyUseReading) throws -> Timestamp? {
        let hash = keyPair.publicKeyHash
        return [try reading.keyUse(of: hash)?.decryptions?.last, uses.lastDecryption(with: hash)]
            .compactMap(\.self).max()
    }

    /// Compares with the earlier of the machine's clock and the confirmed time, so that a machine clock that is ahead
    /// makes no use look old.
    private func isRecent(_ last: Timestamp, at time: ClockReading) -> Bool { last.adding(quietPeriod) > time.earliest }
}
