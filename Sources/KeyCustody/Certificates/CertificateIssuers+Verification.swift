package import MerchantCore
import SwiftASN1
package import Vocabulary
@_spi(DisableValidityCheck) import X509

/// Why the CAs of the setting `trust.certificate-issuers` do not verify an uploaded certificate.
package enum ChainRefusal: Hashable, Sendable, CustomStringConvertible {
    /// The uploaded certificate cannot be parsed.
    case unreadable
    /// No listed CA has the name of the issuer of the uploaded certificate, or of the issuer of a CA in its chain. The
    /// text is the issuer's name.
    case issuerNotListed(String)
    /// A CA with the issuer's name is listed, but the signature of the certificate, or of a CA in its chain, was made
    /// with another key.
    case signatureMismatch(issuer: String)
    /// The uploaded certificate, or a CA of its chain, has a critical extension that the daemon does not check.
    /// RFC 5280 section 4.2 requires that such a certificate is refused. The texts are the extension's identifier and
    /// the certificate's subject.
    case criticalExtension(String, of: String)
    /// The certificate of a CA of the chain has expired or is not yet valid. The text is the CA's name.
    case authorityOutsideValidity(String, at: Timestamp)
    /// The chain breaks a rule of RFC 5280 section 6, for example on path length or name constraints.
    case pathInvalid(String)

    package var description: String {
        switch self {
        case .unreadable: "the certificate cannot be read"
        case .issuerNotListed(let name): "no CA with the name '\(name)' is listed"
        case .signatureMismatch(let issuer): "the listed CA '\(issuer)' did not sign the certificate"
        case .criticalExtension(let identifier, let subject):
            "'\(subject)' has the critical extension \(identifier), which is not supported"
        case .authorityOutsideValidity(let name, let time):
            "the certificate of the listed CA '\(name)' is not valid at \(time)"
        case .pathInvalid(let reason): "the chain is not valid by RFC 5280: \(reason)"
        }
    }
}

extension CertificateIssuers {
    /// Builds a chain from the certificate to a listed root, and validates the chain by RFC 5280 section 6.
    ///
    /// This method does not check the validity period of the certificate itself, because an import may contain
    /// certificates that have expired. `CertificateRules` checks that period.
    ///
    /// - Returns: nil if the certificate has a valid chain.
    package func refusal(of facts: CertificateFacts, at time: Timestamp) async -> ChainRefusal? {
        guard let leaf = try? Certificate(derEncoded: facts.der) else { return .unreadable }
        var verifier = Verifier(rootCertificates: CertificateStore(roots)) {
            RFC5280Policy.withValidityCheckDisabled()
            IssuingAuthorityPolicy(time: time)
        }
        switch await verifier.validate(leaf: leaf, intermediates: CertificateStore(intermediates)) {
        case .validCertificate: return nil
        case .couldNotValidate(let failures):
            return failures.first.map { refusal($0, at: time) } ?? firstMissingLink(from: leaf)
        }
    }

    private func refusal(_ failure: CertificateValidationResult.PolicyFailure, at time: Timestamp) -> ChainRefusal {
        // The first certificate of the chain is the uploaded one.
        if let authority = failure.chain.dropFirst().first(where: { !$0.isValid(at: time) }) {
            return .authorityOutsideValidity("\(authority.subject)", at: time)
        }
        // The library's reason contains whole certificates. Replace each certificate by its subject.
        let reason = failure.chain.reduce(failure.policyFailureReason.description) { text, certificate in
            text.replacing("\(certificate)", with: "'\(certificate.subject)'")
        }
        return .pathInvalid(String(reason.prefix(300)))
    }

    /// Finds the first missing link of the chain, for the message. The library's verifier gives no reason if there is
    /// no chain to a root.
    private func firstMissingLink(from leaf: Certificate) -> ChainRefusal {
        var (certificate, seen) = (leaf, Set<Certificate>())
        while seen.insert(certificate).inserted {
            if let identifier = certificate.uncheckedCriticalExtension {
                return .criticalExtension("\(identifier)", of: "\(certificate.subject)")
            }
            let issuer = "\(certificate.issuer)"
            let candidates = (roots + intermediates).filter { $0.subject == certificate.issuer }
            guard !candidates.isEmpty else { return .issuerNotListed(issuer) }
            guard let signer = candidates.first(where: { $0.hasSigned(certificate) }) else {
                return .signatureMismatch(issuer: issuer)
            }
            certificate = signer
        }
        // The signers form a cycle that contains no root. No case describes a cycle, so report the last issuer as not
        // listed.
        return .issuerNotListed("\(certificate.issuer)")
    }
}

/// The checks that the daemon makes in addition to `RFC5280Policy`.
///
/// Every CA of the chain must be valid at the given time. Two extensions may be critical in the uploaded certificate,
/// because `CertificateRules` checks both: the extended key usage and Apple's merchant identifier extension. The
/// extended key usage of a CA must not be critical, because the daemon does not check it.
struct IssuingAuthorityPolicy: VerifierPolicy {
    /// id-ce-extKeyUsage, RFC 5280 section 4.2.1.12.
    static let extendedKeyUsage: ASN1ObjectIdentifier = [2, 5, 29, 37]

    let verifyingCriticalExtensions = [extendedKeyUsage, CertificateFacts.merchantIdentifierExtension]
    let time: Timestamp

    func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
        for authority in chain.dropFirst() {
            guard authority.isValid(at: time) else {
                return .failsToMeetPolicy(reason: "a CA is outside its validity period")
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

    /// The first critical extension that neither policy checks.
    fileprivate var uncheckedCriticalExtension: ASN1ObjectIdentifier? {
        // Only the policies' lists of extensions are used here, so any time can be passed.
        let checked =
            RFC5280Policy().verifyingCriticalExtensions
            + IssuingAuthorityPolicy(time: Timestamp(notValidAfter)).verifyingCriticalExtensions
        return extensions.first { $0.critical && !checked.contains($0.oid) }?.oid
    }
}
