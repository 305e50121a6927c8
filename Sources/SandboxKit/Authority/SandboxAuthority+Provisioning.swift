import Crypto
import CryptoExtras
import SwiftASN1
package import Vocabulary
import X509

/// Issues the certificates to whose keys card issuers encrypt card data for in-app provisioning.
extension SandboxAuthority {
    /// The two certificates that Wallet hands to an issuer's app, and the private key of the first one.
    package struct ProvisioningCredentials: Sendable {
        /// The leaf in DER.
        package let leaf: [UInt8]
        /// The intermediate that issued the leaf, in DER. The root is not handed over.
        package let subCA: [UInt8]
        /// The private key of the leaf, in PEM.
        package let privateKey: String
    }

    /// 760 days, as in Apple's certificate from 2018.
    private static let provisioningValidityPeriod = Duration.seconds(760 * 86_400)

    /// Generates a key and issues the leaf for it, with the fields of Apple's certificate: common name
    /// `ecc-crypto-services-encipherment_UC6-…`, key usage keyEncipherment and keyAgreement (critical), and the marker
    /// 1.2.840.113635.100.6.39 (critical).
    ///
    /// - Parameters:
    ///   - notAfter: the end of the validity period; if nil, 760 days after `notBefore`.
    ///   - fault: what is wrong with the leaf; nil for a valid leaf.
    /// - Throws: ``SandboxError`` if the validity period does not end after it starts.
    package func issueProvisioningCredentials(
        notBefore: Timestamp, notAfter: Timestamp? = nil, fault: ProvisioningCertificateFault? = nil
    ) throws -> ProvisioningCredentials {
        let end = notAfter ?? notBefore.adding(Self.provisioningValidityPeriod)
        guard notBefore < end else {
            throw SandboxError("notAfter \(end) must be later than notBefore \(notBefore)")
        }
        let key = try Self.provisioningKey(fault)
        let template = CertificateTemplate(
            subject: try SandboxName.cardDataEncryption("ecc-crypto-services-encipherment_UC6-SANDBOX"),
            role: .cardDataEncryption(
                fault == .wrongKeyUsage
                    ? KeyUsage(digitalSignature: true) : KeyUsage(keyEncipherment: true, keyAgreement: true),
                marker: Self.provisioningMarker(fault)),
            notBefore: notBefore, notAfter: end)
        let issuer = self[fault == .otherIssuer ? .tokenIssuer : .processingIssuer]
        let subCA = self[.processingIssuer].certificate
        let leaf =
            try fault == .selfSigned
            ? template.signed(
                publicKey: key.publicKey, issuer: template.subject, issuerKey: key, algorithm: .ecdsaWithSHA256)
            : issuer.certify(template, publicKey: key.publicKey)
        return ProvisioningCredentials(
            leaf: try TLV.der(leaf), subCA: try TLV.der(subCA),
            privateKey: try key.serializeAsPEM().pemString + "\n")
    }

    private static func provisioningKey(_ fault: ProvisioningCertificateFault?) throws -> Certificate.PrivateKey {
        switch fault {
        case .p384: .init(P384.Signing.PrivateKey())
        case .rsa: .init(try _RSA.Signing.PrivateKey(keySize: .bits2048))
        default: .init(P256.Signing.PrivateKey())
        }
    }

    private static func provisioningMarker(_ fault: ProvisioningCertificateFault?) -> Certificate.Extension? {
        switch fault {
        case .noMarker: nil
        case .otherMarker: AppleExtension.marker(AppleExtension.tokenSigner, critical: true)
        case .markerNotCritical: AppleExtension.marker(AppleExtension.cardDataEncryption)
        default: AppleExtension.marker(AppleExtension.cardDataEncryption, critical: true)
        }
    }
}
