package import Vocabulary

/// An active key pair that can name the platform to Apple, with the certificate that does.
package struct IdentityKey: Hashable, Sendable {
    package let keyPair: KeyPair
    package let certificate: StoredCertificate

    package init(keyPair: KeyPair, certificate: StoredCertificate) {
        self.keyPair = keyPair
        self.certificate = certificate
    }
}

extension MerchantReading {
    /// The active identity key pairs, the one to present first: valid before ended, newer before older.
    package func identityKeys(at moment: Timestamp) throws -> [IdentityKey] {
        try activeIdentityKeyPairs().compactMap { keyPair in
            try certificates(of: keyPair.publicKeyHash).answering(at: moment)
                .map { IdentityKey(keyPair: keyPair, certificate: $0) }
        }.sorted { left, right in
            let (leftIsValid, rightIsValid) = (
                left.certificate.isValid(at: moment), right.certificate.isValid(at: moment)
            )
            guard leftIsValid == rightIsValid else { return leftIsValid }
            return (left.certificate.notBefore, left.certificate.storedAt)
                > (right.certificate.notBefore, right.certificate.storedAt)
        }
    }
}
