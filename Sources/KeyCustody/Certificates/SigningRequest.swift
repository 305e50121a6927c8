import SwiftASN1
import Vocabulary
import X509

/// A PKCS#10 certification request, RFC 2986, in DER.
enum SigningRequest {
    /// The longest common name, RFC 5280 appendix A.1.
    private static let longestCommonName = 64
    private static let commonName: ASN1ObjectIdentifier = [2, 5, 4, 3]
    /// The attribute userId (RFC 4519 section 2.39), at most 256 characters. Apple's certificates have the merchant
    /// identifier in this attribute.
    private static let userIdentifier: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]

    /// Creates a request that `key` itself signs. The subject has only the merchant identifier, because Apple replaces
    /// the subject.
    static func create(for merchant: MerchantIdentifier, key: SigningKey) throws -> [UInt8] {
        let attribute = merchant.rawValue.utf8.count <= longestCommonName ? commonName : userIdentifier
        let request = try CertificateSigningRequest(
            version: .v1,
            subject: DistinguishedName([
                RelativeDistinguishedName(.init(type: attribute, utf8String: merchant.rawValue))
            ]), privateKey: key.certifiable, attributes: .init(), signatureAlgorithm: key.signatureAlgorithm)
        var serializer = DER.Serializer()
        try serializer.serialize(request)
        return serializer.serializedBytes
    }
}

extension SigningKey {
    fileprivate var certifiable: Certificate.PrivateKey {
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
