package import MerchantCore
package import Vocabulary

/// The source of the client certificate for TLS with Apple, if the daemon's own store holds the private key. (If files
/// hold the key, ``IdentityFiles`` is the source.) The private key is unsealed only while it signs.
package struct CustodyIdentities: IdentitySource {
    /// An identity key pair and its certificates, as they are in the store now.
    package struct Candidate: Sendable {
        package let keyPair: KeyPair
        package let certificates: [StoredCertificate]

        package init(keyPair: KeyPair, certificates: [StoredCertificate]) {
            self.keyPair = keyPair
            self.certificates = certificates
        }
    }

    private let custody: KeyCustody
    private let candidates: @Sendable () throws -> [Candidate]

    /// - Parameter candidates: reads the key pairs from which to choose. Key pairs that are not active, or have another
    ///   purpose than `identity`, are ignored.
    package init(custody: KeyCustody, candidates: @escaping @Sendable () throws -> [Candidate]) {
        self.custody = custody
        self.candidates = candidates
    }

    /// Returns the identity with the newest valid certificate. Prefers an identity of the platform integrator to those
    /// of merchants, because Apple's registration API expects the platform integrator's certificate for every merchant.
    package func identity(at time: Timestamp) throws(IdentityError) -> ClientIdentity {
        let all: [Candidate]
        do { all = try candidates() } catch { throw .unusable("the identity keys cannot be read: \(error)") }
        let active = all.filter { $0.keyPair.purpose == .identity && $0.keyPair.state.isActive }
        let valid = active.flatMap { candidate in
            candidate.certificates.filter { $0.isValid(at: time) }.map { (keyPair: candidate.keyPair, certificate: $0) }
        }
        let best = valid.max { first, second in
            let isSecondOfIntegrator = second.keyPair.merchantIdentifier.isPlatformIntegrator
            if first.keyPair.merchantIdentifier.isPlatformIntegrator != isSecondOfIntegrator {
                return isSecondOfIntegrator
            }
            return (first.certificate.notBefore, first.certificate.storedAt)
                < (second.certificate.notBefore, second.certificate.storedAt)
        }
        guard let (keyPair, certificate) = best else { throw Self.whyNoneIsValid(among: active, at: time) }
        let hash = keyPair.publicKeyHash
        // The signature algorithms are those of RSA, because every identity key is an RSA key.
        return ClientIdentity(
            certificateChain: [certificate.der] + custody.issuers(of: certificate.der), publicKeyHash: hash,
            notBefore: certificate.notBefore, notAfter: certificate.notAfter,
            signatureAlgorithms: TLSSignatureAlgorithm.rsa
        ) { [custody] algorithm, bytes in try custody.sign(bytes, with: hash, algorithm: algorithm) }
    }

    /// The error if no active key pair has a certificate that is valid at `time`.
    private static func whyNoneIsValid(among active: [Candidate], at time: Timestamp) -> IdentityError {
        guard let last = active.flatMap(\.certificates).max(by: { $0.notAfter < $1.notAfter }) else {
            return .notConfigured(
                "there is no active identity key: generate one with key generate --purpose identity and upload its certificate, or set apple.gateway.identity.certificate"
            )
        }
        guard time > last.notAfter else {
            return .unusable("the identity certificate \(last.serialNumber) is not valid before \(last.notBefore)")
        }
        return .unusable(
            "the identity certificate \(last.serialNumber) expired at \(last.notAfter): upload a new certificate from Apple"
        )
    }
}

extension KeyCustody {
    /// Returns those CAs between a certificate and its root that `trust.certificate-issuers` contains. Some servers
    /// require that the client sends these CAs.
    func issuers(of der: [UInt8]) -> [[UInt8]] { certificateIssuers?.intermediates(above: der) ?? [] }
}
