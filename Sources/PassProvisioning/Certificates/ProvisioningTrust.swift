public import FoundationEssentials
import SwiftASN1
import Vocabulary
import X509

/// Which certificates an issuer accepts for in-app provisioning.
public struct ProvisioningTrust: Sendable {
    /// An environment of Apple Pay.
    public enum Environment: String, Sendable, CaseIterable {
        /// The environment with real cards. Certificates of test environments are refused.
        case production
        /// The environment with test cards. The sub-CA may have any name, if its issuer is a trusted root other than
        /// Apple Root CA - G3.
        case sandbox
    }

    /// Whether the validity periods of the certificates are checked.
    public enum ValidityPeriod: String, Sendable, CaseIterable {
        /// Every certificate of the chain must be valid at the given time.
        case checked
        /// The validity periods are not checked, as in Apple's own client.
        case ignored
    }

    /// The common name of the sub-CA in Apple's production environment.
    ///
    /// Source: Apple's Security framework, `SecPolicyCreateApplePayIssuerEncryption`.
    public static let subCACommonName = "Apple Worldwide Developer Relations CA - G2"

    /// Apple Root CA - G3 in DER, the root of Apple's chain. Its SHA-256 fingerprint is
    /// 63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179.
    public static var appleRootCAG3: Data { AppleRootCertificate.g3 }

    /// The environment whose certificates are accepted.
    public let environment: Environment
    /// Whether validity periods are checked.
    public let validityPeriod: ValidityPeriod
    let roots: [Certificate]
    /// Remembers which of the `roots` signed a sub-CA. Copies of this value share the cache.
    let subCAs = SubCACache()

    /// Creates the rules for accepting certificates.
    ///
    /// - Parameters:
    ///   - roots: the trusted root certificates in DER.
    ///   - environment: the environment whose certificates are accepted.
    ///   - validityPeriod: whether validity periods are checked.
    /// - Throws: ``CertificateFinding`` `noRoots`, `malformedRoot` or `notARoot`.
    public init(
        roots: [Data] = [ProvisioningTrust.appleRootCAG3], environment: Environment = .production,
        validityPeriod: ValidityPeriod = .checked
    ) throws(CertificateFinding) {
        guard !roots.isEmpty else { throw .noRoots }
        var parsed: [Certificate] = []
        for (index, root) in roots.enumerated() {
            guard let certificate = try? Certificate(derEncoded: Array(root)) else {
                throw .malformedRoot(position: index + 1)
            }
            guard Self.isRoot(certificate) else { throw .notARoot(position: index + 1) }
            parsed.append(certificate)
        }
        self.roots = parsed
        self.environment = environment
        self.validityPeriod = validityPeriod
    }

    private static func isRoot(_ certificate: Certificate) -> Bool {
        guard let constraints = try? certificate.extensions.basicConstraints,
            case .isCertificateAuthority(let longest) = constraints,
            // The path from the root to the leaf contains one sub-CA (RFC 5280 section 4.2.1.9).
            longest.map({ $0 >= 1 }) ?? true
        else { return false }
        return certificate.subject == certificate.issuer
            && certificate.publicKey.isValidSignature(certificate.signature, for: certificate)
    }
}
