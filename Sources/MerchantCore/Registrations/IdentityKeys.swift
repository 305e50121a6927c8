package import Vocabulary

/// An active key pair that authenticates the platform to Apple, with its certificate.
package struct IdentityKey: Hashable, Sendable {
    package let keyPair: KeyPair
    package let certificate: StoredCertificate

    package init(keyPair: KeyPair, certificate: StoredCertificate) {
        self.keyPair = keyPair
        self.certificate = certificate
    }
}

extension KeyPairReading {
    /// The active identity key pairs, the preferred one first: valid before expired ones, then newer before older ones.
    package func identityKeys(at time: Timestamp) throws -> [IdentityKey] {
        try activeIdentityKeyPairs().compactMap { keyPair in
            try certificates(of: keyPair.publicKeyHash).certificateInUse(at: time)
                .map { IdentityKey(keyPair: keyPair, certificate: $0) }
        }.sorted { left, right in
            let (leftIsValid, rightIsValid) = (
                left.certificate.isValid(at: time), right.certificate.isValid(at: time)
            )
            guard leftIsValid == rightIsValid else { return leftIsValid }
            return (left.certificate.notBefore, left.certificate.storedAt)
                > (right.certificate.notBefore, right.certificate.storedAt)
        }
    }
}
