import Crypto
import FoundationEssentials
import PassProvisioning
import SwiftASN1
import X509

/// A chain like Apple's: a P-384 root, a P-256 sub-CA and a P-256 leaf. The sub-CA and the leaf have the names of
/// Apple's production certificates. Without a change, every check accepts it.
struct TestChain {
    static let marker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 39]
    static let null: [UInt8] = [0x05, 0x00]
    static let leafName = "ecc-crypto-services-encipherment_UC6-PROD"
    static let rootName = "Test chain root"
    /// 2024-01-01. The leaf is valid from a year before until a year after this time.
    static let now = Date(timeIntervalSince1970: 1_704_067_200)
    private static let year: TimeInterval = 365 * 86_400

    let rootKey = P384.Signing.PrivateKey()
    let subCAKey = P256.Signing.PrivateKey()
    let leafKey = P256.KeyAgreement.PrivateKey()
    var root: CertificateFields
    var subCA: CertificateFields
    var leaf: CertificateFields

    init() throws {
        let now = Self.now
        root = CertificateFields(
            subject: Self.rootName, issuer: Self.rootName, publicKey: .init(rootKey.publicKey), signer: .init(rootKey),
            algorithm: .ecdsaWithSHA384, notBefore: now - 10 * Self.year, notAfter: now + 15 * Self.year,
            basicConstraints: .isCertificateAuthority(maxPathLength: nil),
            keyUsage: KeyUsage(keyCertSign: true, cRLSign: true))
        subCA = CertificateFields(
            subject: ProvisioningTrust.subCACommonName, issuer: Self.rootName, publicKey: .init(subCAKey.publicKey),
            signer: .init(rootKey), algorithm: .ecdsaWithSHA256, notBefore: now - 5 * Self.year,
            notAfter: now + 5 * Self.year, basicConstraints: .isCertificateAuthority(maxPathLength: nil),
            keyUsage: KeyUsage(keyCertSign: true, cRLSign: true))
        let publicKey = try P256.Signing.PublicKey(x963Representation: leafKey.publicKey.x963Representation)
        leaf = CertificateFields(
            subject: Self.leafName, issuer: ProvisioningTrust.subCACommonName, publicKey: .init(publicKey),
            signer: .init(subCAKey), algorithm: .ecdsaWithSHA256, notBefore: now - Self.year,
            notAfter: now + Self.year, basicConstraints: .notCertificateAuthority,
            keyUsage: KeyUsage(keyEncipherment: true, keyAgreement: true),
            otherExtensions: [Certificate.Extension(oid: Self.marker, critical: true, value: Self.null[...])])
    }

    /// The leaf and the sub-CA in DER, as the app sends them.
    func sent() throws -> [Data] { [try leaf.encoded(), try subCA.encoded()] }

    func trust(
        _ environment: ProvisioningTrust.Environment = .production,
        validityPeriod: ProvisioningTrust.ValidityPeriod = .checked
    ) throws -> ProvisioningTrust {
        try ProvisioningTrust(roots: [root.encoded()], environment: environment, validityPeriod: validityPeriod)
    }

    func findings(
        _ environment: ProvisioningTrust.Environment = .production,
        validityPeriod: ProvisioningTrust.ValidityPeriod = .checked, at time: Date = now
    ) throws -> [CertificateFinding] {
        try ProvisioningCertificates(sent()).findings(
            trust: trust(environment, validityPeriod: validityPeriod), at: time)
    }
}
