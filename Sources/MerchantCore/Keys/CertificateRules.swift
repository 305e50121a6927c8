package import Vocabulary

/// Checks whether a certificate may be stored for a key pair.
///
/// The error of each check names what was found and what was expected.
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
                "the certificate's publicKeyHash is \(facts.publicKeyHash), expected \(keyPair.hash)")
        }
        try checkMerchant(facts, of: merchant)
        try checkKind(facts, purpose: keyPair.purpose)
        try checkTime(facts, at: now, allowsExpired: allowsExpired)
        if case .untrusted(let why) = issuer {
            throw MerchantError(
                .certificateIssuerUntrusted,
                "the certificate's issuer is '\(facts.issuer)': \(why); expected a chain to a CA of trust.certificate-issuers"
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
                "the certificate has no readable extension 1.2.840.113635.100.6.32, expected the hash of \(merchant): \(expected)"
            )
        }
        guard found == expected else {
            throw MerchantError(
                .certificateForAnotherMerchant,
                "the certificate's extension 1.2.840.113635.100.6.32 is \(found), expected the hash of \(merchant): \(expected)"
            )
        }
    }

    private static func checkKind(_ facts: CertificateFacts, purpose: KeyPurpose) throws(MerchantError) {
        guard !facts.isCertificateAuthority else {
            throw MerchantError(
                .certificateWrongKind,
                "the certificate is a CA certificate (basic constraints), expected an end-entity certificate")
        }
        switch purpose {
        case .paymentProcessing:
            guard facts.extendedKeyUsages == nil else {
                throw MerchantError(
                    .certificateWrongKind,
                    "the certificate has extended key usage \(facts.extendedKeyUsages ?? []), expected a payment processing certificate, which has none"
                )
            }
            guard facts.hasKeyEncipherment else {
                throw MerchantError(
                    .certificateWrongKind,
                    "the certificate's key usage lacks keyEncipherment, expected a payment processing certificate, which has it"
                )
            }
        case .identity:
            guard let usages = facts.extendedKeyUsages, usages.contains(clientAuthentication) else {
                throw MerchantError(
                    .certificateWrongKind,
                    "the certificate's extended key usage is \(facts.extendedKeyUsages ?? []), expected an identity certificate with clientAuth (\(clientAuthentication))"
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
                "the certificate is valid from \(facts.notBefore), and this machine's clock says \(now)")
        }
        guard allowsExpired || now <= facts.notAfter else {
            throw MerchantError(
                .certificateExpired,
                "the certificate expired at \(facts.notAfter), and this machine's clock says \(now)")
        }
    }
}
