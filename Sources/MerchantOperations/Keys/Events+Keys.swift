import MerchantCore
import Vocabulary

// Functions that create the events about key pairs.

extension Event {
    static func stored(_ certificate: StoredCertificate, of keyPair: KeyPair, at now: Timestamp) -> Event {
        let change = "a certificate that expires at \(certificate.notAfter) was stored"
        return Event(
            .certificateStored, .notice, at: now, merchant: keyPair.merchantIdentifier, key: keyPair.publicKeyHash,
            detail: keyPair.state == .standby && keyPair.purpose == .paymentProcessing
                ? "\(change): the key is standby; activate the certificate at Apple, then promote the key"
                : "\(change): the key is \(keyPair.state.rawValue)")
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

    /// - Parameter before: the key pair as it was before the revocation.
    static func revoked(_ before: KeyPair, reason: String, at now: Timestamp) -> Event {
        let severity: Severity =
            reason == RevocationRules.compromised ? .critical : before.state == .current ? .warning : .notice
        return Event(
            .keyRevoked, severity, at: now, merchant: before.merchantIdentifier, key: before.publicKeyHash,
            detail: "the key was \(before.state.rawValue) and is revoked: \(reason)")
    }

    /// The event that a merchant has fewer active key pairs than its target.
    ///
    /// - Parameters:
    ///   - active: how many active key pairs the merchant has.
    ///   - expiry: when the certificate of the merchant's current key pair expires; nil if no key pair is current.
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
