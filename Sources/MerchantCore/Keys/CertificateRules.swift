package import Vocabulary

/// Checks whether a certificate may be stored for a key pair.
package enum CertificateRules {
    static let clientAuthentication = "1.3.6.1.5.5.7.3.2"

    /// - Parameter allowsExpired: whether an expired certificate is accepted. An import of existing keys can request
    ///   this.
    /// - Throws: ``MerchantError`` naming the first check that fails.
    package static func check(
        _ facts: CertificateFacts, for keyPair: (hash: PublicKeyHash, purpose: KeyPurpose),
        of merchant: MerchantIdentifier, issuer: IssuerFinding, at now: Timestamp, allowsExpired: Bool
    ) throws(MerchantError) {
        guard facts.publicKeyHash == keyPair.hash else {
            throw MerchantError(
                .certificateKeyUnknown,
                "the certificate is for the key \(facts.publicKeyHash), not for the key \(keyPair.hash): give the certificate that belongs to this private key"
            )
        }
        try checkMerchant(facts, of: merchant)
        try checkKind(facts, purpose: keyPair.purpose)
        try checkTime(facts, at: now, allowsExpired: allowsExpired)
        if case .untrusted(let why) = issuer {
            throw MerchantError(
                .certificateIssuerUntrusted,
                "the certificate, issued by '\(facts.issuer)', has no chain to a CA of the setting trust.certificate-issuers: \(why)"
            )
        }
    }

    private static func checkMerchant(
        _ facts: CertificateFacts, of merchant: MerchantIdentifier
    ) throws(MerchantError) {
        let expected = MerchantIdentifierHash(of: merchant)
        guard let found = facts.merchantIdentifierHash else {
            throw MerchantError(
                .certificateForAnotherMerchant,
                "the certificate has no readable extension 1.2.840.113635.100.6.32, which Apple fills with the hash of the merchant identifier (for \(merchant): \(expected)); upload a certificate from Apple"
            )
        }
        guard found == expected else {
            throw MerchantError(
                .certificateForAnotherMerchant,
                "the certificate is for another merchant than \(merchant): its extension 1.2.840.113635.100.6.32 is \(found), the hash of \(merchant) is \(expected)"
            )
        }
    }

    private static func checkKind(_ facts: CertificateFacts, purpose: KeyPurpose) throws(MerchantError) {
        guard !facts.isCertificateAuthority else {
            throw MerchantError(
                .certificateWrongKind,
                "the certificate is a CA certificate (basic constraints), not a merchant's certificate: upload the certificate that Apple issued for the CSR"
            )
        }
        switch purpose {
        case .paymentProcessing:
            guard facts.extendedKeyUsages == nil else {
                throw MerchantError(
                    .certificateWrongKind,
                    "the certificate has the extended key usages \(facts.extendedKeyUsages ?? []), but a payment processing certificate has none: upload a payment processing certificate"
                )
            }
            guard facts.hasKeyEncipherment else {
                throw MerchantError(
                    .certificateWrongKind,
                    "the certificate's key usage lacks keyEncipherment, which a payment processing certificate has: upload a payment processing certificate"
                )
            }
        case .identity:
            guard let usages = facts.extendedKeyUsages, usages.contains(clientAuthentication) else {
                throw MerchantError(
                    .certificateWrongKind,
                    "the certificate's extended key usages \(facts.extendedKeyUsages ?? []) lack clientAuth (\(clientAuthentication)), which an identity certificate has: upload an identity certificate"
                )
            }
        }
    }

    private static func checkTime(
        _ facts: CertificateFacts, at now: Timestamp, allowsExpired: Bool
    ) throws(MerchantError) {
        guard facts.notBefore <= now else {
            throw MerchantError(
                .certificateNotYetValid,
                "the certificate is not valid before \(facts.notBefore), and this machine's clock shows \(now): check the clock, or wait"
            )
        }
        guard allowsExpired || now <= facts.notAfter else {
            throw MerchantError(
                .certificateExpired,
                "the certificate expired at \(facts.notAfter), and this machine's clock shows \(now): check the clock, or get a new certificate from Apple"
            )
        }
    }
}
