import FoundationEssentials
import SwiftASN1
import Vocabulary
import X509

/// The fields of a certificate to issue, except the public key and the issuer.
///
/// The certificates have no authority information access and no CRL distribution points: the sandbox has no OCSP or CRL
/// server, and a test certificate must not make clients contact Apple's servers.
struct CertificateTemplate {
    /// The purpose of the certificate.
    enum Role {
        /// A CA. `marker` is the Apple extension that shows which certificates the CA issues; nil for none.
        case authority(marker: ASN1ObjectIdentifier?)
        case tokenSigner
        case paymentProcessing(MerchantIdentifier)
        case identity(MerchantIdentifier)
        /// The encryption of card data for in-app provisioning. `marker` is nil for a certificate without a marker,
        /// which is a fault.
        case cardDataEncryption(KeyUsage, marker: Certificate.Extension?)
        /// A web server with these host names and IP addresses.
        case server([SandboxServerName])
    }

    let subject: DistinguishedName
    let role: Role
    let notBefore: Timestamp
    let notAfter: Timestamp

    static func authority(
        _ commonName: String, marker: ASN1ObjectIdentifier?, from notBefore: Timestamp, years: Int
    ) throws -> CertificateTemplate {
        CertificateTemplate(
            subject: try SandboxName.authority(commonName), role: .authority(marker: marker), notBefore: notBefore,
            notAfter: notBefore.adding(.seconds(years * 365 * 86_400)))
    }

    static func tokenSigner(
        _ commonName: String, from notBefore: Timestamp, years: Int
    ) throws -> CertificateTemplate {
        CertificateTemplate(
            subject: try SandboxName.tokenSigner(commonName), role: .tokenSigner, notBefore: notBefore,
            notAfter: notBefore.adding(.seconds(years * 365 * 86_400)))
    }

    /// Returns a certificate for a public key, signed by the issuer.
    func signed(
        publicKey: Certificate.PublicKey, issuer: DistinguishedName, issuerKey: Certificate.PrivateKey,
        algorithm: Certificate.SignatureAlgorithm
    ) throws -> Certificate {
        try Certificate(
            version: .v3, serialNumber: Self.randomSerialNumber(), publicKey: publicKey,
            notValidBefore: notBefore.wholeSecond, notValidAfter: notAfter.wholeSecond, issuer: issuer,
            subject: subject,
            signatureAlgorithm: algorithm,
            extensions: extensions(publicKey: publicKey, issuerKey: issuerKey.publicKey), issuerPrivateKey: issuerKey)
    }

    /// The extensions, in the order of Apple's certificates.
    private func extensions(
        publicKey: Certificate.PublicKey, issuerKey: Certificate.PublicKey
    ) throws -> Certificate.Extensions {
        var list = Certificate.Extensions()
        try list.append(.init(basicConstraints, critical: true))
        // A self-signed root needs no authority key identifier (RFC 5280 section 4.2.1.1).
        if publicKey != issuerKey {
            let identifier = SubjectKeyIdentifier(hash: issuerKey).keyIdentifier
            try list.append(.init(AuthorityKeyIdentifier(keyIdentifier: identifier), critical: false))
        }
        switch role {
        case .authority, .server: break
        case .tokenSigner, .paymentProcessing, .identity, .cardDataEncryption:
            try list.append(AppleExtension.policies())
        }
        if case .server(let names) = role {
            try list.append(.init(SubjectAlternativeNames(names.map(\.generalName)), critical: false))
            try list.append(.init(ExtendedKeyUsage([.serverAuth]), critical: false))
        }
        if case .identity = role { try list.append(.init(ExtendedKeyUsage([.clientAuth]), critical: false)) }
        try list.append(.init(SubjectKeyIdentifier(hash: publicKey), critical: false))
        try list.append(.init(keyUsage, critical: true))
        for `extension` in try appleExtensions { try list.append(`extension`) }
        return list
    }

    private var basicConstraints: BasicConstraints {
        if case .authority = role { .isCertificateAuthority(maxPathLength: nil) } else { .notCertificateAuthority }
    }

    private var keyUsage: KeyUsage {
        switch role {
        case .authority: KeyUsage(keyCertSign: true, cRLSign: true)
        case .tokenSigner, .identity, .server: KeyUsage(digitalSignature: true)
        case .paymentProcessing: KeyUsage(keyEncipherment: true, keyAgreement: true)
        case .cardDataEncryption(let usage, _): usage
        }
    }

    private var appleExtensions: [Certificate.Extension] {
        get throws {
            switch role {
            case .authority(let marker): marker.map { [AppleExtension.marker($0)] } ?? []
            case .server: []
            case .tokenSigner: [AppleExtension.marker(AppleExtension.tokenSigner)]
            case .cardDataEncryption(_, let marker): marker.map { [$0] } ?? []
            case .paymentProcessing(let merchant): [try AppleExtension.merchantHash(of: merchant)]
            case .identity(let merchant):
                [
                    try AppleExtension.merchantHash(of: merchant),
                    AppleExtension.marker(AppleExtension.merchantIdentity),
                ]
            }
        }
    }

    /// Returns a random serial number of eight bytes, the length that Apple uses. The first two bits are 01. If the
    /// first bit were 1, the DER integer would be negative; if the first byte were 0, DER would omit this byte.
    private static func randomSerialNumber() -> Certificate.SerialNumber {
        Certificate.SerialNumber(UInt64.random(in: 1 << 62..<1 << 63))
    }
}

extension Timestamp {
    /// The time rounded down to whole seconds. swift-certificates rounds to the nearest second, so a certificate that
    /// should be valid from now on could begin in the future.
    fileprivate var wholeSecond: Date {
        Date(timeIntervalSince1970: (Double(millisecondsSince1970) / 1000).rounded(.down))
    }
}
