import SwiftASN1
import Vocabulary

/// A PKCS#10 certification request, RFC 2986, in DER.
///
/// Written field by field: a general CSR builder costs several times the signature, and key pairs are made by the thousand.
enum SigningRequest {
    /// The longest common name, RFC 5280 appendix A.1.
    private static let longestCommonName = 64
    private static let commonName: ASN1ObjectIdentifier = [2, 5, 4, 3]
    /// RFC 4519 section 2.39, at most 256 characters: where Apple's certificates carry the merchant identifier.
    private static let userIdentifier: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]
    private static let ecdsaWithSHA256: ASN1ObjectIdentifier = [1, 2, 840, 10045, 4, 3, 2]
    private static let sha256WithRSAEncryption: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 11]

    /// Signed by the key itself. The subject is the merchant identifier and nothing else: Apple replaces it anyway.
    static func make(
        for merchant: MerchantIdentifier, key: SigningKey, subjectPublicKeyInfo: [UInt8]
    ) throws -> [UInt8] {
        var info = DER.Serializer()
        try info.appendConstructedNode(identifier: .sequence) { info in
            try info.serialize(0)
            try appendSubject(merchant, to: &info)
            info.serializeRawBytes(subjectPublicKeyInfo)
            // RFC 2986 section 4.1: the field is required, though its set may be empty.
            info.appendConstructedNode(identifier: ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)) { _ in
            }
        }
        let signed = info.serializedBytes
        let signature = try key.signature(over: signed)

        var request = DER.Serializer()
        try request.appendConstructedNode(identifier: .sequence) { request in
            request.serializeRawBytes(signed)
            try appendSignatureAlgorithm(of: key, to: &request)
            try request.serialize(ASN1BitString(bytes: signature[...]))
        }
        return request.serializedBytes
    }

    private static func appendSubject(_ merchant: MerchantIdentifier, to coder: inout DER.Serializer) throws {
        let attribute = merchant.rawValue.utf8.count <= longestCommonName ? commonName : userIdentifier
        try coder.appendConstructedNode(identifier: .sequence) { name in
            try name.appendConstructedNode(identifier: .set) { relative in
                try relative.appendConstructedNode(identifier: .sequence) { pair in
                    try pair.serialize(attribute)
                    try pair.serialize(ASN1UTF8String(merchant.rawValue))
                }
            }
        }
    }

    private static func appendSignatureAlgorithm(of key: SigningKey, to coder: inout DER.Serializer) throws {
        try coder.appendConstructedNode(identifier: .sequence) { algorithm in
            switch key {
            case .ec:
                // RFC 5758 section 3.2: no parameters.
                try algorithm.serialize(ecdsaWithSHA256)
            case .rsa:
                // RFC 4055 section 5: NULL parameters.
                try algorithm.serialize(sha256WithRSAEncryption)
                try algorithm.serialize(ASN1Null())
            }
        }
    }
}
