package import MerchantCore
package import Vocabulary

/// The source of the client certificate for TLS with Apple, if the daemon's own store holds the identity key. The
/// private key is unsealed only while it signs.
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

    /// Returns the platform integrator's identity if there is a valid one, otherwise a merchant's. Of several
    /// certificates it chooses the newest.
    package func identity(at time: Timestamp) throws(IdentityError) -> ClientIdentity {
        let all: [Candidate]
        do { all = try candidates() } catch { throw .unusable("the identity keys cannot be read: \(error)") }
        let active = all.filter { $0.keyPair.purpose == .identity && $0.keyPair.state.isActive }
        let valid = active.flatMap { candidate in
            candidate.certificates.filter { $0.isValid(at: time) }.map { (candidate.keyPair, $0) }
        }
        let best = valid.max { left, right in
            let (first, second) = (left.0.merchantIdentifier, right.0.merchantIdentifier)
            if first.isPlatformIntegrator != second.isPlatformIntegrator { return second.isPlatformIntegrator }
            return (left.1.notBefore, left.1.storedAt) < (right.1.notBefore, right.1.storedAt)
        }
        guard let (keyPair, certificate) = best else { throw Self.missing(active, at: time) }
        let hash = keyPair.publicKeyHash
        return ClientIdentity(
            certificateChain: [certificate.der] + custody.issuers(of: certificate.der), publicKeyHash: hash,
            notBefore: certificate.notBefore, notAfter: certificate.notAfter,
            signatureAlgorithms: TLSSignatureAlgorithm.rsa
        ) { [custody] algorithm, bytes in try custody.sign(bytes, with: hash, algorithm: algorithm) }
    }

    private static func missing(_ active: [Candidate], at time: Timestamp) -> IdentityError {
        guard let last = active.flatMap(\.certificates).max(by: { $0.notAfter < $1.notAfter }) else {
            return .notConfigured(
                "found no active identity key, expected one (key generate --purpose identity) or the setting apple.gateway.identity.certificate"
            )
        }
        guard time > last.notAfter else {
            return .unusable("the identity certificate \(last.serialNumber) is not valid before \(last.notBefore)")
        }
        return .unusable(
            "the identity certificate \(last.serialNumber) expired at \(last.notAfter), expected a valid one: renew it")
    }
}

extension KeyCustody {
    /// Returns those CAs between a certificate and its root that `trust.certificate-issuers` contains. Some servers
    /// require that the client sends them.
    func issuers(of der: [UInt8]) -> [[UInt8]] { certificateIssuers?.intermediates(above: der) ?? [] }
}
