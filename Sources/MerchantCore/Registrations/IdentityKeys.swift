package import Vocabulary

/// An active key pair that authenticates the platform or a merchant to Apple, with its certificate.
package struct IdentityKey: Hashable, Sendable {
    package let keyPair: KeyPair
    package let certificate: StoredCertificate

    package init(keyPair: KeyPair, certificate: StoredCertificate) {
        self.keyPair = keyPair
        self.certificate = certificate
    }
}

extension KeyPairReading {
    /// The merchant's active identity key pairs, the preferred one first: those with a valid certificate come first,
    /// then those with a newer certificate.
    package func identityKeys(of merchant: MerchantIdentifier, at time: Timestamp) throws -> [IdentityKey] {
        try activeIdentityKeyPairs(of: merchant).compactMap { keyPair in
            try certificates(of: keyPair.publicKeyHash).certificateInUse(at: time)
                .map { IdentityKey(keyPair: keyPair, certificate: $0) }
        }.preferredFirst(at: time)
    }
}

extension RepositoryReading {
    /// How many identifiers of the platform are read at most. A platform has few.
    private static var maximumPlatformIntegrators: Int { 64 }

    /// The owner's active identity key pairs, the preferred one first.
    ///
    /// - Parameter platform: the merchant whose identity keys are the platform's; nil for every platform integrator.
    package func identityKeys(
        of owner: IdentityOwner, platform: MerchantIdentifier?, at time: Timestamp
    ) throws -> [IdentityKey] {
        switch owner {
        case .merchant(let merchant): try identityKeys(of: merchant, at: time)
        case .platform:
            try (platform.map { [$0] } ?? platformIntegrators(limit: Self.maximumPlatformIntegrators))
                .flatMap { try identityKeys(of: $0, at: time) }.preferredFirst(at: time)
        }
    }
}

extension [IdentityKey] {
    fileprivate func preferredFirst(at time: Timestamp) -> [IdentityKey] {
        sorted { left, right in
            let (leftIsValid, rightIsValid) = (
                left.certificate.isValid(at: time), right.certificate.isValid(at: time)
            )
            guard leftIsValid == rightIsValid else { return leftIsValid }
            return (left.certificate.notBefore, left.certificate.storedAt)
                > (right.certificate.notBefore, right.certificate.storedAt)
        }
    }
}
