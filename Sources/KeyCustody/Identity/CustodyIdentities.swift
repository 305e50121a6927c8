package import MerchantCore
package import Vocabulary

/// The source of the client certificate for TLS with Apple, if the daemon's own store holds the private key. The
/// private key is unsealed only while it signs.
package struct CustodyIdentities: IdentitySource {
    private let custody: KeyCustody
    private let issuers: IssuerChains
    private let cache: IdentityCache
    private let keys: @Sendable (IdentityOwner, Timestamp) throws -> [IdentityKey]

    /// - Parameters:
    ///   - cache: the cache of identities. Must be an observer of the store.
    ///   - keys: reads the owner's identity keys, the preferred one first, as
    ///     ``MerchantCore/RepositoryReading/identityKeys(of:platform:at:)`` does. Key pairs that are not active, or
    ///     have another purpose than `identity`, are ignored.
    package init(
        custody: KeyCustody, cache: IdentityCache,
        keys: @escaping @Sendable (IdentityOwner, Timestamp) throws -> [IdentityKey]
    ) {
        self.custody = custody
        self.cache = cache
        self.keys = keys
        issuers = IssuerChains(custody)
    }

    package func cachedIdentity(of owner: IdentityOwner, at time: Timestamp) -> ClientIdentity? {
        cache.identity(of: owner, at: time, issuers: custody.currentIssuers.generation)
    }

    package func identity(of owner: IdentityOwner, at time: Timestamp) throws(IdentityError) -> ClientIdentity {
        let version = cache.version(issuers: custody.currentIssuers.generation)
        let identity = try preferredIdentity(of: owner, at: time)
        cache.store(identity, of: owner, readAt: time, version)
        return identity
    }

    private func preferredIdentity(
        of owner: IdentityOwner, at time: Timestamp
    ) throws(IdentityError) -> ClientIdentity {
        let found: [IdentityKey]
        do { found = try keys(owner, time) } catch { throw .unusable("the identity keys cannot be read: \(error)") }
        let active = found.filter { $0.keyPair.purpose == .identity && $0.keyPair.state.isActive }
        guard let key = active.first(where: { $0.certificate.isValid(at: time) }) else {
            throw .noValidCertificate(among: active, of: owner, at: time)
        }
        let (certificate, hash) = (key.certificate, key.keyPair.publicKeyHash)
        // The signature algorithms are those of RSA, because every identity key is an RSA key.
        return ClientIdentity(
            certificateChain: [certificate.der] + issuers.issuers(of: certificate.der), publicKeyHash: hash,
            notBefore: certificate.notBefore, notAfter: certificate.notAfter,
            signatureAlgorithms: TLSSignatureAlgorithm.rsa
        ) { [custody] algorithm, bytes in try custody.sign(bytes, with: hash, algorithm: algorithm) }
    }
}

extension KeyCustody {
    /// Returns those CAs between a certificate and its root that `trust.certificate-issuers` contains. Some servers
    /// require that the client sends these CAs.
    func issuers(of der: [UInt8]) -> [[UInt8]] { certificateIssuers?.intermediates(above: der) ?? [] }
}
