import Crypto
import SwiftASN1
import Vocabulary
import X509

/// Apple's own certificate extensions. A *marker* is an extension whose presence shows the kind of a certificate. Its
/// value is always NULL.
enum AppleExtension {
    /// The marker of token signing certificates, whose keys sign payment tokens.
    static let tokenSigner: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 29]
    /// The marker of the intermediate that issues token signing certificates ("Apple Application Integration CA - G3").
    static let tokenIssuer: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 14]
    /// The marker of the intermediate that issues payment processing certificates ("Apple Worldwide Developer Relations
    /// CA - G2").
    static let processingIssuer: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 15]
    /// The extension that contains the hash of the merchant identifier.
    static let merchantHash: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 32]
    /// The marker of merchant identity certificates.
    static let merchantIdentity: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 46]
    /// The marker of the certificates to whose keys issuers encrypt card data (in-app provisioning). It is critical.
    static let cardDataEncryption: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 39]
    /// The certificate policy in the certificates of token signers, merchants and card data encryption.
    static let policy: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 5, 1]

    /// Returns a marker extension. Of Apple's markers, only ``cardDataEncryption`` is critical.
    static func marker(_ identifier: ASN1ObjectIdentifier, critical: Bool = false) -> Certificate.Extension {
        Certificate.Extension(oid: identifier, critical: critical, value: TLV.null[...])
    }

    /// Returns extension 1.2.840.113635.100.6.32: a UTF8String of 64 **upper-case** hexadecimal digits.
    static func merchantHash(of merchant: MerchantIdentifier) throws -> Certificate.Extension {
        let digits = MerchantIdentifierHash(of: merchant).hex.uppercased()
        return Certificate.Extension(
            oid: merchantHash, critical: false, value: try TLV.der(ASN1UTF8String(digits))[...])
    }

    /// Returns the certificatePolicies extension (RFC 5280 section 4.2.1.4) with Apple's policy and no qualifier.
    static func policies() throws -> Certificate.Extension {
        let value = TLV.definite(TLV.sequence, TLV.definite(TLV.sequence, try TLV.der(policy)))
        return Certificate.Extension(oid: [2, 5, 29, 32], critical: false, value: value[...])
    }

    /// Returns the merchant identifier hash in a certificate: 32 bytes, which the key derivation of EC_v1 uses.
    ///
    /// - Throws: ``SandboxError`` if the extension is absent or not valid.
    static func merchantHash(in certificate: Certificate) throws(SandboxError) -> MerchantIdentifierHash {
        guard let found = certificate.extensions[oid: merchantHash] else {
            throw SandboxError(
                "the certificate has no extension \(merchantHash), expected a payment processing certificate")
        }
        guard let text = try? ASN1UTF8String(derEncoded: Array(found.value)),
            let bytes = Hex.decode(String(decoding: text.bytes, as: UTF8.self)),
            let hash = MerchantIdentifierHash(bytes: bytes)
        else {
            throw SandboxError(
                "extension \(merchantHash) of the certificate is invalid, "
                    + "expected a UTF8String of 64 hexadecimal digits"
            )
        }
        return hash
    }
}
