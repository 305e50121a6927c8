package import MerchantCore
package import Vocabulary

/// The identity keys in custody, to be shown to Apple in TLS. Private keys stay sealed but for the moment of a signature.
package struct CustodyIdentities: IdentitySource {
    /// An identity key pair with its certificates, as the store has them at that moment.
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

    /// - Parameter candidates: every active key pair of the purpose identity that may be shown; others are passed over.
    package init(custody: KeyCustody, candidates: @escaping @Sendable () throws -> [Candidate]) {
        self.custody = custody
        self.candidates = candidates
    }

    /// The platform integrator's identity goes before a merchant's, then the newest certificate before an older one.
    package func identity(at moment: Timestamp) throws(IdentityError) -> ClientIdentity {
        let all: [Candidate]
        do { all = try candidates() } catch { throw .unusable("the identity keys cannot be read: \(error)") }
        let active = all.filter { $0.keyPair.purpose == .identity && $0.keyPair.state.isActive }
        let valid = active.flatMap { candidate in
            candidate.certificates.filter { $0.isValid(at: moment) }.map { (candidate.keyPair, $0) }
        }
        let best = valid.max { left, right in
            let (first, second) = (left.0.merchantIdentifier, right.0.merchantIdentifier)
            if first.isPlatformIntegrator != second.isPlatformIntegrator { return second.isPlatformIntegrator }
            return (left.1.notBefore, left.1.storedAt) < (right.1.notBefore, right.1.storedAt)
        }
        guard let (keyPair, certificate) = best else { throw Self.missing(active, at: moment) }
        let hash = keyPair.publicKeyHash
        return ClientIdentity(
            certificateChain: [certificate.der] + custody.issuers(of: certificate.der), publicKeyHash: hash,
            notBefore: certificate.notBefore, notAfter: certificate.notAfter,
            signatureAlgorithms: TLSSignatureAlgorithm.rsa
        ) { [custody] algorithm, bytes in try custody.sign(bytes, with: hash, algorithm: algorithm) }
    }

    private static func missing(_ active: [Candidate], at moment: Timestamp) -> IdentityError {
        guard let last = active.flatMap(\.certificates).max(by: { $0.notAfter < $1.notAfter }) else {
            return .notConfigured(
                "found no active identity key, expected one (key generate --purpose identity) or the setting apple.gateway.identity.certificate"
            )
        }
        guard moment > last.notAfter else {
            return .unusable("the identity certificate \(last.serialNumber) is valid from \(last.notBefore) only")
        }
        return .unusable(
            "the identity certificate \(last.serialNumber) ended at \(last.notAfter), expected a valid one: renew it")
    }
}

extension KeyCustody {
    /// The CAs between a certificate and its root, as far as `trust.certificate-issuers` knows them: some servers want them shown.
    func issuers(of der: [UInt8]) -> [[UInt8]] { certificateIssuers?.intermediates(above: der) ?? [] }
}
