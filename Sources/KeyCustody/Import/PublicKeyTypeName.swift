import SwiftASN1

/// The usual names of the types of public keys, such as "P-256" and "RSA-2048".
enum PublicKeyTypeName {
    static let p256 = "P-256"
    static let rsa2048 = "RSA-2048"

    /// The usual names of elliptic curves, by libcrypto's names.
    static let ofCurves = ["prime256v1": p256, "secp384r1": "P-384", "secp521r1": "P-521", "secp224r1": "P-224"]

    private static let ecPublicKey: ASN1ObjectIdentifier = [1, 2, 840, 10045, 2, 1]
    private static let rsaEncryption: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 1]
    private static let curves: [ASN1ObjectIdentifier: String] = [
        [1, 2, 840, 10045, 3, 1, 7]: p256, [1, 3, 132, 0, 34]: "P-384", [1, 3, 132, 0, 35]: "P-521",
        [1, 3, 132, 0, 33]: "P-224", [1, 3, 132, 0, 10]: "secp256k1",
    ]
    /// Other algorithms, which are named only in error messages.
    private static let others: [ASN1ObjectIdentifier: String] = [
        [1, 3, 101, 112]: "Ed25519", [1, 3, 101, 113]: "Ed448", [1, 2, 840, 10040, 4, 1]: "DSA",
        [1, 2, 840, 113549, 1, 1, 10]: "RSA-PSS",
    ]

    /// Reads the name of the type from a `SubjectPublicKeyInfo`. A type without a usual name gets a description or its
    /// object identifier.
    static func read(from subjectPublicKeyInfo: ASN1Node) throws -> String {
        try DER.sequence(subjectPublicKeyInfo, identifier: .sequence) { nodes in
            guard let algorithm = nodes.next(), let key = nodes.next() else { throw ASN1Error.elementMissing }
            var parts = try algorithm.childNodes().makeIterator()
            guard let identifier = parts.next() else { throw ASN1Error.elementMissing }
            let algorithmIdentifier = try ASN1ObjectIdentifier(derEncoded: identifier)
            let bits = try ASN1BitString(derEncoded: key).bytes
            switch algorithmIdentifier {
            case ecPublicKey:
                guard let parameters = parts.next(), let curve = try? ASN1ObjectIdentifier(derEncoded: parameters)
                else {
                    return "EC with explicit curve parameters"
                }
                return curves[curve] ?? "EC \(curve)"
            case rsaEncryption: return "RSA-\(try modulusBits(bits))"
            default: return others[algorithmIdentifier] ?? "\(algorithmIdentifier)"
            }
        }
    }

    /// Counts the bits of the modulus of an `RSAPublicKey`, RFC 8017 appendix A.1.1.
    private static func modulusBits(_ key: ArraySlice<UInt8>) throws -> Int {
        guard let modulus = try DER.parse(key).childNodes().first, case .primitive(let bytes) = modulus.content else {
            throw ASN1Error.elementMissing
        }
        let magnitude = bytes.drop { $0 == 0 }
        return magnitude.count * 8 - (magnitude.first?.leadingZeroBitCount ?? 0)
    }
}

extension ASN1Node {
    /// - Throws: if the element is primitive: it contains a value and no elements.
    func childNodes() throws -> [ASN1Node] {
        guard case .constructed(let children) = content else { throw ASN1Error.elementMissing }
        return Array(children)
    }
}

extension ASN1Error {
    static var elementMissing: ASN1Error { .invalidASN1Object(reason: "an element is missing") }
}
