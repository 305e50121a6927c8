package import MerchantCore
import SwiftASN1
package import Vocabulary
@_spi(DisableValidityCheck) import X509

/// Why an uploaded certificate is not accepted as issued by a CA of `trust.certificate-issuers`.
package enum ChainRefusal: Hashable, Sendable, CustomStringConvertible {
    case unreadable
    /// No listed CA has the name of this issuer.
    case issuerNotListed(String)
    /// A CA of this name is listed, and the signature was not made with its key.
    case signatureMismatch(issuer: String)
    /// The certificate, or the CA of this name, has a critical extension that the daemon does not check. RFC 5280
    /// section 4.2 requires refusal.
    case criticalExtension(String, of: String)
    case authorityOutsideValidity(String, at: Timestamp)
    /// Path length, name constraints and the other rules of RFC 5280 section 6.
    case pathInvalid(String)

    package var description: String {
        switch self {
        case .unreadable: "the certificate cannot be read"
        case .issuerNotListed(let name): "no CA of that name is listed ('\(name)')"
        case .signatureMismatch(let issuer): "the signature is not that of the listed CA '\(issuer)'"
        case .criticalExtension(let identifier, let subject):
            "'\(subject)' has the critical extension \(identifier), which is not supported"
        case .authorityOutsideValidity(let name, let time):
            "the listed CA '\(name)' is outside its validity at \(time)"
        case .pathInvalid(let reason): "the chain is not valid by RFC 5280: \(reason)"
        }
    }
}

extension CertificateIssuers {
    /// Builds a chain from the certificate to a listed root and validates it by RFC 5280 section 6.
    ///
    /// The validity period of the certificate itself is not checked here: `CertificateRules` checks it, because an import may
    /// bring certificates that have expired.
    ///
    /// - Returns: nil for a certificate with a valid chain.
    package func refusal(of facts: CertificateFacts, at time: Timestamp) async -> ChainRefusal? {
        guard let leaf = try? Certificate(derEncoded: facts.der) else { return .unreadable }
        var verifier = Verifier(rootCertificates: CertificateStore(roots)) {
            RFC5280Policy.withValidityCheckDisabled()
            IssuingAuthorityPolicy(time: time)
        }
        switch await verifier.validate(leaf: leaf, intermediates: CertificateStore(intermediates)) {
        case .validCertificate: return nil
        case .couldNotValidate(let failures):
            return failures.first.map { refusal($0, at: time) } ?? refusal(withoutChainFrom: leaf)
        }
    }

    private func refusal(_ failure: CertificateValidationResult.PolicyFailure, at time: Timestamp) -> ChainRefusal {
        if let authority = failure.chain.dropFirst().first(where: { !$0.isValid(at: time) }) {
            return .authorityOutsideValidity("\(authority.subject)", at: time)
        }
        // The library's reasons contain whole certificates; the names suffice.
        let reason = failure.chain.reduce(failure.policyFailureReason.description) { text, certificate in
            text.replacing("\(certificate)", with: "'\(certificate.subject)'")
        }
        return .pathInvalid(String(reason.prefix(300)))
    }

    /// The verifier gives no reason if it finds no chain to a root, so this finds the first missing link for the message.
    private func refusal(withoutChainFrom leaf: Certificate) -> ChainRefusal {
        var (certificate, seen) = (leaf, Set<Certificate>())
        while seen.insert(certificate).inserted {
            if let identifier = certificate.uncheckedCriticalExtension {
                return .criticalExtension("\(identifier)", of: "\(certificate.subject)")
            }
            let issuer = "\(certificate.issuer)"
            let named = (roots + intermediates).filter { $0.subject == certificate.issuer }
            guard !named.isEmpty else { return .issuerNotListed(issuer) }
            guard let signer = named.first(where: { $0.hasSigned(certificate) }) else {
                return .signatureMismatch(issuer: issuer)
            }
            certificate = signer
        }
        return .issuerNotListed("\(certificate.issuer)")
    }
}

/// What `RFC5280Policy` does not check and the daemon does.
///
/// Every CA of the chain must be valid at the given time. An extended key usage may be critical in the uploaded certificate,
/// where `CertificateRules` checks it, and not in a CA. Apple's merchant identifier extension is checked by
/// `CertificateRules` too.
struct IssuingAuthorityPolicy: VerifierPolicy {
    /// id-ce-extKeyUsage, RFC 5280 section 4.2.1.12.
    static let extendedKeyUsage: ASN1ObjectIdentifier = [2, 5, 29, 37]

    let verifyingCriticalExtensions = [extendedKeyUsage, CertificateFacts.merchantIdentifierExtension]
    let time: Timestamp

    func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
        for authority in chain.dropFirst() {
            guard authority.isValid(at: time) else {
                return .failsToMeetPolicy(reason: "a CA is outside its validity")
            }
            guard authority.extensions[oid: Self.extendedKeyUsage]?.critical != true else {
                return .failsToMeetPolicy(
                    reason: "the CA '\(authority.subject)' has a critical extended key usage, which is not supported")
            }
        }
        return .meetsPolicy
    }
}

extension Certificate {
    fileprivate func isValid(at time: Timestamp) -> Bool {
        Timestamp(notValidBefore) <= time && time <= Timestamp(notValidAfter)
    }

    fileprivate var uncheckedCriticalExtension: ASN1ObjectIdentifier? {
        let checked =
            RFC5280Policy().verifyingCriticalExtensions
            + IssuingAuthorityPolicy(time: Timestamp(notValidAfter)).verifyingCriticalExtensions
        return extensions.first { $0.critical && !checked.contains($0.oid) }?.oid
    }
}
