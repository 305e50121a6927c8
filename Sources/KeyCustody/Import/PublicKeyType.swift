import SwiftASN1

/// Finds the usual name of a public key's type, such as "P-256" or "RSA-2048", in its `SubjectPublicKeyInfo`.
enum PublicKeyType {
    static let p256 = "P-256"
    static let rsa2048 = "RSA-2048"

    /// The usual name for each of libcrypto's names of curves.
    static let curveNames = ["prime256v1": p256, "secp384r1": "P-384", "secp521r1": "P-521", "secp224r1": "P-224"]

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

    static func name(of info: ASN1Node) throws -> String {
        try DER.sequence(info, identifier: .sequence) { nodes in
            guard let algorithm = nodes.next(), let key = nodes.next() else { throw ASN1Error.truncated }
            var parts = try children(of: algorithm).makeIterator()
            guard let identifier = parts.next() else { throw ASN1Error.truncated }
            let algorithmName = try ASN1ObjectIdentifier(derEncoded: identifier)
            let bits = try ASN1BitString(derEncoded: key).bytes
            switch algorithmName {
            case ecPublicKey:
                guard let parameters = parts.next(), let curve = try? ASN1ObjectIdentifier(derEncoded: parameters)
                else {
                    return "EC with explicit curve parameters"
                }
                return curves[curve] ?? "EC \(curve)"
            case rsaEncryption: return "RSA-\(try modulusBits(bits))"
            default: return others[algorithmName] ?? "\(algorithmName)"
            }
        }
    }

    /// Counts the bits of the modulus of an `RSAPublicKey`, RFC 8017 appendix A.1.1.
    private static func modulusBits(_ key: ArraySlice<UInt8>) throws -> Int {
        guard let modulus = try children(of: DER.parse(key)).first, case .primitive(let bytes) = modulus.content else {
            throw ASN1Error.truncated
        }
        let magnitude = bytes.drop { $0 == 0 }
        return magnitude.count * 8 - (magnitude.first?.leadingZeroBitCount ?? 0)
    }

    static func children(of node: ASN1Node) throws -> [ASN1Node] {
        guard case .constructed(let children) = node.content else { throw ASN1Error.truncated }
        return Array(children)
    }
}

extension ASN1Error {
    static var truncated: ASN1Error { .invalidASN1Object(reason: "an element is missing") }
}
