import MerchantCore
import Vocabulary

// Functions that create the events about key pairs.

extension Event {
    static func stored(
        _ certificate: StoredCertificate, of keyPair: KeyPair, at now: Timestamp,
        in reading: any KeyPairReading & RollReading
    ) throws -> Event {
        let change = "a certificate that expires at \(certificate.notAfter) was stored"
        return Event(
            .certificateStored, .notice, at: now, merchant: keyPair.merchantIdentifier, key: keyPair.publicKeyHash,
            detail: "\(change): \(try nextStep(afterCertificateOf: keyPair, in: reading))")
    }

    /// The end of the event's text: the state of the key pair whose certificate was stored, and what must be done next.
    ///
    /// The certificate must be activated at Apple if the key pair is the new one of an open roll, or if the merchant
    /// has no current key pair of this purpose and algorithm. Any other key pair is a reserve for the next roll: the
    /// activation of its certificate would replace the current key pair at Apple at once.
    private static func nextStep(
        afterCertificateOf keyPair: KeyPair, in reading: any KeyPairReading & RollReading
    ) throws -> String {
        guard keyPair.purpose == .paymentProcessing, keyPair.state == .standby else {
            return "the key is \(keyPair.state.rawValue)"
        }
        let roll = try reading.openRoll(of: keyPair.merchantIdentifier, algorithm: keyPair.algorithm)
        guard roll?.to != keyPair.publicKeyHash, let current = try reading.currentKeyPair(matching: keyPair) else {
            return "the key is standby; activate the certificate at Apple, then promote the key"
        }
        return
            "the key is standby, as a reserve for the current key \(current.publicKeyHash); nothing must be done, and the certificate must not be activated at Apple before a roll to this key"
    }

    /// The event that Apple encrypts to a standby key pair that is not the new key pair of an open roll: see
    /// ``StandbyKeyUse``.
    ///
    /// - Parameter last: the time of the last token.
    static func standbyUsed(
        _ keyPair: KeyPair, last: Timestamp, current: KeyPair?, at now: Timestamp
    ) -> Event {
        Event(
            .standbyKeyUsed, .warning, at: now, merchant: keyPair.merchantIdentifier, key: keyPair.publicKeyHash,
            detail: standbyUse(of: keyPair, last: last, current: current))
    }

    /// The text of this event and of the finding in `status`: that Apple encrypts to a standby key pair, and what to
    /// do.
    static func standbyUse(of keyPair: KeyPair, last: Timestamp, current: KeyPair?) -> String {
        let currentKey = current.map { "the current key is \($0.publicKeyHash)" } ?? "no key is current"
        let alternative =
            current == nil ? "" : "; if its certificate was activated by mistake, activate another certificate instead"
        return
            "Apple encrypts tokens to this standby key: the last one was decrypted at \(last), and \(currentKey); run 'key promote \(keyPair.publicKeyHash)'\(alternative)"
    }

    /// - Parameter reason: why the daemon promoted the key pair; nil if an admin promoted it.
    static func promoted(
        _ keyPair: KeyPair, superseding former: KeyPair?, reason: String?, at now: Timestamp
    ) -> Event {
        let cause = reason.map { ": \($0)" } ?? ""
        let formerKey = former.map { "; the former current key \($0.publicKeyHash) is retiring" } ?? ""
        return Event(
            .keyPromoted, .notice, at: now, merchant: keyPair.merchantIdentifier, key: keyPair.publicKeyHash,
            detail: "the key is current\(cause)\(formerKey)")
    }

    /// - Parameters:
    ///   - before: the key pair as it was before the revocation.
    ///   - isInUse: whether the key pair is current, or Apple encrypts to it although it is standby.
    static func revoked(_ before: KeyPair, isInUse: Bool, reason: String, at now: Timestamp) -> Event {
        let severity: Severity =
            reason == RevocationRules.compromised ? .critical : isInUse ? .warning : .notice
        return Event(
            .keyRevoked, severity, at: now, merchant: before.merchantIdentifier, key: before.publicKeyHash,
            detail: "the key was \(before.state.rawValue) and is revoked: \(reason)")
    }

    /// The event that a merchant has fewer active key pairs than its target.
    ///
    /// - Parameters:
    ///   - active: how many active payment processing key pairs the merchant has.
    ///   - expiry: the earliest expiry of the merchant's current payment processing key pairs, of which each algorithm
    ///     has at most one; nil if no key pair is current.
    static func belowTarget(
        _ merchant: Merchant, active: Int, currentCertificateExpiry expiry: Timestamp?, at now: Timestamp
    ) -> Event {
        Event(
            .belowTarget,
            TargetRules.severity(hasLostAllKeyPairs: active == 0, currentCertificateExpiry: expiry, at: now), at: now,
            merchant: merchant.identifier,
            detail:
                "the merchant has \(active) of \(merchant.targetActiveKeyPairs.counted("active key pair")): generate a key pair and have its CSR signed"
        )
    }
}
