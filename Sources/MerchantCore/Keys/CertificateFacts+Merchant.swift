package import Vocabulary

extension CertificateFacts {
    /// The merchant that the certificate names: the identifier in the subject's userId or common name whose hash is in
    /// the extension 1.2.840.113635.100.6.32. nil if there is no such identifier.
    package var merchantIdentifier: MerchantIdentifier? {
        // An identifier contains none of the separators. An example of a common name is
        // `Apple Pay Payment Processing:merchant.com.example`.
        subject.split { ",=+:; ".contains($0) }.lazy.compactMap { MerchantIdentifier($0) }
            .first { MerchantIdentifierHash(of: $0) == merchantIdentifierHash }
    }
}
