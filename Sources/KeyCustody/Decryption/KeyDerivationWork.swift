import MerchantCore
import Secrets
import SwiftASN1

/// Bounds the work that a protected file asks for: its maker chooses how many rounds its passphrase is hashed.
///
/// PBES1, PBKDF2, scrypt and PKCS#12's MAC all put their counts behind the salt: integers that follow an OCTET STRING in
/// one SEQUENCE.
enum KeyDerivationWork {
    /// Some seconds' worth. OpenSSL writes 2048, careful people a million.
    static let mostRounds = 5_000_000
    private static let deepest = 24

    static func check(_ bytes: UnsafeRawBufferPointer) throws(MerchantError) {
        // Protected by the passphrase, but wiped all the same.
        var copy = Array(bytes)
        defer { Wipe.bytes(&copy) }
        guard let root = try? BER.parse(copy) else {
            throw PrivateKeyFile.malformed("holds a block that is not well-formed BER")
        }
        try check(root, depth: 0)
    }

    private static func check(_ node: ASN1Node, depth: Int) throws(MerchantError) {
        guard depth < deepest else { throw PrivateKeyFile.malformed("is nested more than \(deepest) deep") }
        switch node.content {
        case .constructed(let children) where node.identifier != .octetString:
            var isBehindSalt = false
            for child in children {
                if child.identifier == .octetString { isBehindSalt = true }
                if isBehindSalt, child.identifier == .integer { try check(count: child) }
                try check(child, depth: depth + 1)
            }
        case .constructed, .primitive:
            // PKCS#12 wraps its parts in octet strings.
            guard node.identifier == .octetString, let content = try? ASN1OctetString(berEncoded: node),
                let inner = try? BER.parse(content.bytes)
            else { return }
            try check(inner, depth: depth + 1)
        }
    }

    private static func check(count node: ASN1Node) throws(MerchantError) {
        guard let rounds = try? Int(berEncoded: node), rounds <= mostRounds else {
            throw PrivateKeyFile.malformed("asks for more than \(mostRounds) rounds of key derivation")
        }
    }
}
