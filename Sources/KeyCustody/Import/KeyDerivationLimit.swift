import MerchantCore
import Secrets
import SwiftASN1

/// Limits the work that decrypting a private key file requires. The author of the file chooses how many rounds of
/// hashing derive the key from the passphrase.
///
/// PBES1, PBKDF2, scrypt and the MAC of PKCS#12 all encode the number of rounds after the salt. So this type treats
/// every INTEGER that follows an OCTET STRING in the same SEQUENCE as a number of rounds.
enum KeyDerivationLimit {
    /// The limit for each number. A derivation with this many rounds takes a few seconds. OpenSSL's default is 2048
    /// rounds; cautious users choose a million.
    static let maximumRounds = 5_000_000
    /// The limit for a whole file. A file may need three derivations: for its private key, its certificates and its
    /// MAC.
    static let maximumTotalRounds = 10_000_000
    /// How many levels of nested elements a file may have. The check calls itself for each level.
    private static let maximumDepth = 24

    /// Finds all key derivations in a BER or DER structure, and throws `privateKeyMalformed` if their rounds exceed a
    /// limit.
    ///
    /// - Parameter done: the rounds that the previously checked parts of the file require.
    /// - Returns: the sum of `done` and the rounds that `bytes` require.
    @discardableResult
    static func check(_ bytes: UnsafeRawBufferPointer, after done: Int = 0) throws(MerchantError) -> Int {
        // `bytes` may contain decrypted parts of the file, so the copy is wiped.
        var copy = Array(bytes)
        defer { Wipe.bytes(&copy) }
        guard let root = try? BER.parse(copy) else {
            throw PrivateKeyFile.malformed("has a part that is not well-formed BER: export the key again")
        }
        var sum = done
        try check(root, depth: 0, &sum)
        return sum
    }

    private static func check(_ node: ASN1Node, depth: Int, _ sum: inout Int) throws(MerchantError) {
        guard depth < maximumDepth else {
            throw PrivateKeyFile.malformed("has more than \(maximumDepth) levels of nested ASN.1 elements")
        }
        switch node.content {
        case .constructed(let children) where node.identifier != .octetString:
            var isAfterSalt = false
            var counts: [Int] = []
            for child in children {
                if child.identifier == .octetString { isAfterSalt = true }
                if isAfterSalt, child.identifier == .integer { counts.append(try count(child)) }
                try check(child, depth: depth + 1, &sum)
            }
            try add(rounds(from: counts), to: &sum)
        case .constructed, .primitive:
            // In PKCS#12, octet strings contain BER-encoded parts of the file, so their contents are checked.
            guard node.identifier == .octetString, let content = try? ASN1OctetString(berEncoded: node),
                let inner = try? BER.parse(content.bytes)
            else { return }
            try check(inner, depth: depth + 1, &sum)
        }
    }

    /// Reads an INTEGER that follows a salt.
    private static func count(_ node: ASN1Node) throws(MerchantError) -> Int {
        guard let rounds = try? Int(berEncoded: node), (0...maximumRounds).contains(rounds) else {
            throw PrivateKeyFile.malformed(
                "requires more than \(maximumRounds) rounds of key derivation: export the key with fewer rounds")
        }
        return rounds
    }

    /// Converts the INTEGERs of one derivation to a number of rounds.
    private static func rounds(from counts: [Int]) -> Int {
        // Two INTEGERs are the rounds and the key length of PBKDF2. The key length is too small to change the result.
        guard counts.count >= 3 else { return counts.reduce(0, +) }
        // The first three INTEGERs are the cost, block size and parallelization of scrypt. Their product is comparable
        // to a number of rounds.
        return counts.prefix(3).reduce(1) { product, count in
            let (next, isTooMuch) = product.multipliedReportingOverflow(by: count)
            return isTooMuch ? .max : next
        }
    }

    private static func add(_ rounds: Int, to sum: inout Int) throws(MerchantError) {
        guard rounds <= maximumTotalRounds - sum else {
            throw PrivateKeyFile.malformed(
                "requires more than \(maximumTotalRounds) rounds of key derivation in total: export the key with fewer rounds"
            )
        }
        sum += rounds
    }
}
