import SwiftASN1
import Vocabulary
import X509

/// Creates certificate signing requests (CSRs): PKCS#10, RFC 2986, in DER.
enum SigningRequest {
    /// The longest common name, RFC 5280 appendix A.1.
    private static let longestCommonName = 64
    private static let commonName: ASN1ObjectIdentifier = [2, 5, 4, 3]
    /// The attribute userId (RFC 4519 section 2.39), at most 256 characters. Apple's certificates have the merchant
    /// identifier in this attribute.
    private static let userIdentifier: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]

    /// Creates a request that is signed with `key`. The subject contains only the merchant identifier, because Apple
    /// replaces the subject in the certificate. The identifier is the common name, or the userId if it is too long for
    /// a common name.
    static func create(for merchant: MerchantIdentifier, key: SigningKey) throws -> [UInt8] {
        let attribute = merchant.rawValue.utf8.count <= longestCommonName ? commonName : userIdentifier
        let request = try CertificateSigningRequest(
            version: .v1,
            subject: DistinguishedName([
                RelativeDistinguishedName(.init(type: attribute, utf8String: merchant.rawValue))
            ]), privateKey: key.certificatePrivateKey, attributes: .init(), signatureAlgorithm: key.signatureAlgorithm)
        var serializer = DER.Serializer()
        try serializer.serialize(request)
        return serializer.serializedBytes
    }
}

extension SigningKey {
    fileprivate var certificatePrivateKey: Certificate.PrivateKey {
        switch self {
        case .ec(let key): Certificate.PrivateKey(key)
        case .rsa(let key): Certificate.PrivateKey(key)
        }
    }

    fileprivate var signatureAlgorithm: Certificate.SignatureAlgorithm {
        switch self {
        case .ec: .ecdsaWithSHA256
        case .rsa: .sha256WithRSAEncryption
        }
    }
}
