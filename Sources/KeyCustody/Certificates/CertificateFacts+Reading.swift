import Crypto
import FoundationEssentials
import MerchantCore
import SwiftASN1
import Vocabulary
import X509

extension CertificateFacts {
    /// Apple's extension that holds the SHA-256 hash of the merchant identifier as 64 hexadecimal digits.
    static let merchantIdentifierExtension: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 32]

    /// Reads an uploaded file that contains one certificate in PEM or DER.
    init(upload: [UInt8]) throws(MerchantError) {
        let der = try CertificateUpload.der(upload)
        let publicKey = try Self.publicKey(in: der)
        guard [PublicKeyTypeName.p256, PublicKeyTypeName.rsa2048].contains(publicKey.typeName) else {
            throw MerchantError(
                .keyUnsupported, "the certificate's key is \(publicKey.typeName), expected P-256 or RSA-2048")
        }
        do {
            try self.init(Certificate(derEncoded: der), der: der, publicKey: publicKey)
        } catch {
            throw CertificateUpload.malformed(
                "is not a complete X.509 certificate (RFC 5280): upload the file as Apple issued it")
        }
    }

    private init(
        _ certificate: Certificate, der: [UInt8], publicKey: (info: ArraySlice<UInt8>, typeName: String)
    ) throws {
        let extensions = certificate.extensions
        let keyUsage = try extensions.keyUsage
        let basicConstraints = try extensions.basicConstraints
        self.init(
            der: der, fingerprint: Array(SHA256.hash(data: der)), publicKeyHash: PublicKeyHash(of: publicKey.info),
            keyTypeName: publicKey.typeName, merchantIdentifierHash: Self.merchantIdentifierHash(in: extensions),
            hasKeyEncipherment: keyUsage?.keyEncipherment ?? false,
            hasDigitalSignature: keyUsage?.digitalSignature ?? false,
            extendedKeyUsages: try extensions.extendedKeyUsage?.map { String(describing: ASN1ObjectIdentifier($0)) },
            isCertificateAuthority: basicConstraints.map {
                if case .isCertificateAuthority = $0 { true } else { false }
            }
                ?? false,
            notBefore: Timestamp(certificate.notValidBefore), notAfter: Timestamp(certificate.notValidAfter),
            serialNumber: Hex.encode(certificate.serialNumber.bytes).uppercased(),
            subject: certificate.subject.description, issuer: certificate.issuer.description)
    }

    /// - Returns: `info`, the SubjectPublicKeyInfo exactly as the certificate contains it, because the publicKeyHash is
    ///   the hash of these bytes; and the name of the key's type, as in ``PublicKeyTypeName``.
    private static func publicKey(
        in der: [UInt8]
    ) throws(MerchantError) -> (info: ArraySlice<UInt8>, typeName: String) {
        do {
            let certificateParts = try DER.parse(der).childNodes()
            guard let toBeSigned = certificateParts.first else { throw ASN1Error.elementMissing }
            // In a TBSCertificate (RFC 5280 section 4.1), the version is tagged [0] and absent in version 1. The sixth
            // of the other fields is the SubjectPublicKeyInfo.
            let fields = try toBeSigned.childNodes().drop { $0.identifier.tagClass == .contextSpecific }
            guard let info = fields.dropFirst(5).first else { throw ASN1Error.elementMissing }
            return (info.encodedBytes, try PublicKeyTypeName.read(from: info))
        } catch {
            throw CertificateUpload.malformed(
                "is neither PEM nor the DER of exactly one X.509 certificate: upload the file as Apple issued it")
        }
    }

    /// - Returns: nil if the extension is absent or has an invalid value.
    private static func merchantIdentifierHash(in extensions: Certificate.Extensions) -> MerchantIdentifierHash? {
        guard let value = extensions[oid: merchantIdentifierExtension]?.value,
            let node = try? DER.parse(value), let text = try? ASN1UTF8String(derEncoded: node),
            let bytes = Hex.decode(String(text))
        else { return nil }
        return MerchantIdentifierHash(bytes: bytes)
    }
}
