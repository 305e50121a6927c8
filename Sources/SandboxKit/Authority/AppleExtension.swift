import Crypto
import SwiftASN1
import Vocabulary
import X509

/// The certificate extensions that Apple made up and that tell one kind of its certificates from another.
enum AppleExtension {
    /// Marks a leaf that signs payment tokens.
    static let tokenSigner: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 29]
    /// Marks the intermediate that certifies token signers ("Apple Application Integration CA - G3").
    static let tokenIssuer: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 14]
    /// Marks the intermediate that issues payment processing certificates ("… Developer Relations CA - G2").
    static let processingIssuer: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 15]
    /// Holds the hash of the merchant identifier a certificate was issued for.
    static let merchantHash: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 32]
    /// Seen on merchant identity certificates.
    static let merchantIdentity: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 46]
    /// The policy under which Apple issues all of these.
    static let policy: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 5, 1]

    /// A marker: not critical, its value a NULL.
    static func marker(_ identifier: ASN1ObjectIdentifier) -> Certificate.Extension {
        Certificate.Extension(oid: identifier, critical: false, value: TLV.null[...])
    }

    /// 1.2.840.113635.100.6.32: a UTF8String of 64 **upper-case** hexadecimal digits.
    static func merchantHash(of merchant: MerchantIdentifier) throws -> Certificate.Extension {
        let digits = MerchantIdentifierHash(of: merchant).hex.uppercased()
        return Certificate.Extension(
            oid: merchantHash, critical: false, value: try TLV.der(ASN1UTF8String(digits))[...])
    }

    /// certificatePolicies, RFC 5280 section 4.2.1.4, with Apple's policy and no qualifier.
    static func policies() throws -> Certificate.Extension {
        let value = TLV.definite(TLV.sequence, TLV.definite(TLV.sequence, try TLV.der(policy)))
        return Certificate.Extension(oid: [2, 5, 29, 32], critical: false, value: value[...])
    }

    /// Reads the merchant's hash back from a certificate: the 32 raw bytes that the EC_v1 key derivation takes.
    static func merchantHash(in certificate: Certificate) throws(SandboxFault) -> MerchantIdentifierHash {
        guard let found = certificate.extensions[oid: merchantHash] else {
            throw SandboxFault(
                "found a certificate without extension \(merchantHash), expected a payment processing certificate")
        }
        guard let text = try? ASN1UTF8String(derEncoded: Array(found.value)),
            let bytes = Hex.decode(String(decoding: text.bytes, as: UTF8.self)),
            let hash = MerchantIdentifierHash(bytes: bytes)
        else {
            throw SandboxFault(
                "found an unreadable extension \(merchantHash), expected a UTF8String of 64 hexadecimal digits")
        }
        return hash
    }
}
