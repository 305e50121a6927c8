import Crypto
import FoundationEssentials
import SwiftASN1
import X509

/// The fields of a certificate. A test can change any of them before the certificate is signed.
struct CertificateFields {
    var subject: String
    var issuer: String
    var publicKey: Certificate.PublicKey
    /// The issuer's key, which signs the certificate.
    var signer: Certificate.PrivateKey
    var algorithm: Certificate.SignatureAlgorithm
    var notBefore: Date
    var notAfter: Date
    var basicConstraints: BasicConstraints?
    var keyUsage: KeyUsage?
    var otherExtensions: [Certificate.Extension] = []

    /// The certificate in DER.
    func encoded() throws -> Data {
        var list = Certificate.Extensions()
        if let basicConstraints { try list.append(.init(basicConstraints, critical: true)) }
        if let keyUsage { try list.append(.init(keyUsage, critical: true)) }
        for added in otherExtensions { try list.append(added) }
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(UInt64.random(in: 1 << 62..<1 << 63)),
            publicKey: publicKey, notValidBefore: notBefore, notValidAfter: notAfter, issuer: Self.name(issuer),
            subject: Self.name(subject), signatureAlgorithm: algorithm, extensions: list, issuerPrivateKey: signer)
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return Data(serializer.serializedBytes)
    }

    private static func name(_ commonName: String) throws -> DistinguishedName {
        try DistinguishedName([
            RelativeDistinguishedName.Attribute(type: .RDNAttributeType.commonName, utf8String: commonName),
            RelativeDistinguishedName.Attribute(type: .RDNAttributeType.organizationName, utf8String: "Test"),
        ])
    }
}
