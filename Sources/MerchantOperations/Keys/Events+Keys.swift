import MerchantCore
import Vocabulary

// Functions that create the events about key pairs.

extension Event {
    static func stored(_ certificate: StoredCertificate, over keyPair: KeyPair, at now: Timestamp) -> Event {
        let what = "a certificate was stored that ends at \(certificate.notAfter)"
        return Event(
            .certificateStored, .notice, at: now, merchant: keyPair.merchantIdentifier, key: keyPair.publicKeyHash,
            detail: keyPair.state == .standby && keyPair.purpose == .paymentProcessing
                ? "\(what): the key is standby; activate the certificate at Apple, then promote the key"
                : "\(what): the key is \(keyPair.state.rawValue)")
    }

    /// - Parameter reason: why the daemon promoted the key pair; nil if an admin promoted it.
    static func promoted(
        _ keyPair: KeyPair, superseding former: KeyPair?, reason: String?, at now: Timestamp
    ) -> Event {
        let what = former.map { "the key is current; \($0.publicKeyHash) is retiring" } ?? "the key is current"
        return Event(
            .keyPromoted, .notice, at: now, merchant: keyPair.merchantIdentifier, key: keyPair.publicKeyHash,
            detail: reason.map { "\(what): \($0)" } ?? what)
    }

    /// - Parameter before: the key pair as it was before the revocation.
    static func revoked(_ before: KeyPair, reason: String, at now: Timestamp) -> Event {
        let severity: Severity =
            reason == RevocationRules.compromised ? .critical : before.state == .current ? .warning : .notice
        return Event(
            .keyRevoked, severity, at: now, merchant: before.merchantIdentifier, key: before.publicKeyHash,
            detail: "the key was \(before.state.rawValue) and is revoked: \(reason)")
    }

    /// - Parameter ends: when the certificate of the merchant's current key pair expires; nil without such a key pair.
    static func belowTarget(
        _ merchant: Merchant, active: Int, currentEnds ends: Timestamp?, at now: Timestamp
    ) -> Event {
        Event(
            .belowTarget, TargetRules.severity(lostAll: active == 0, currentEnds: ends, at: now), at: now,
            merchant: merchant.identifier,
            detail:
                "the merchant has \(active) of \(merchant.targetActiveKeyPairs) active key pairs: generate a key pair and have its CSR signed"
        )
    }
}
