import MerchantCore
import Secrets
import SwiftASN1

/// Bounds the work of key derivation: the author of an encrypted file chooses how many rounds its passphrase is hashed.
///
/// PBES1, PBKDF2, scrypt and PKCS#12's MAC all have their counts after the salt: integers that follow an OCTET STRING in one
/// SEQUENCE.
enum KeyDerivationLimit {
    /// A few seconds of work. OpenSSL uses 2048 rounds, cautious users a million.
    static let mostRounds = 5_000_000
    /// For a whole file, which protects key, certificates and MAC separately: three times a generous count for each.
    static let mostRoundsInAll = 10_000_000
    private static let deepest = 24

    /// - Parameter done: rounds that other parts of the file require.
    /// - Returns: the sum with the rounds that these bytes require.
    @discardableResult
    static func check(_ bytes: UnsafeRawBufferPointer, after done: Int = 0) throws(MerchantError) -> Int {
        // The bytes are encrypted; the copy is wiped all the same.
        var copy = Array(bytes)
        defer { Wipe.bytes(&copy) }
        guard let root = try? BER.parse(copy) else {
            throw PrivateKeyFile.malformed("holds a block that is not well-formed BER")
        }
        var sum = done
        try check(root, depth: 0, &sum)
        return sum
    }

    private static func check(_ node: ASN1Node, depth: Int, _ sum: inout Int) throws(MerchantError) {
        guard depth < deepest else { throw PrivateKeyFile.malformed("is nested more than \(deepest) deep") }
        switch node.content {
        case .constructed(let children) where node.identifier != .octetString:
            var isBehindSalt = false
            var counts: [Int] = []
            for child in children {
                if child.identifier == .octetString { isBehindSalt = true }
                if isBehindSalt, child.identifier == .integer { counts.append(try count(child)) }
                try check(child, depth: depth + 1, &sum)
            }
            try add(work(counts), to: &sum)
        case .constructed, .primitive:
            // PKCS#12 wraps its parts in octet strings.
            guard node.identifier == .octetString, let content = try? ASN1OctetString(berEncoded: node),
                let inner = try? BER.parse(content.bytes)
            else { return }
            try check(inner, depth: depth + 1, &sum)
        }
    }

    private static func count(_ node: ASN1Node) throws(MerchantError) -> Int {
        guard let rounds = try? Int(berEncoded: node), (0...mostRounds).contains(rounds) else {
            throw PrivateKeyFile.malformed("requires more than \(mostRounds) rounds of key derivation")
        }
        return rounds
    }

    /// scrypt's cost, block size and parallelization multiply; the product is comparable to a number of rounds.
    private static func work(_ counts: [Int]) -> Int {
        guard counts.count >= 3 else { return counts.reduce(0, +) }
        return counts.prefix(3).reduce(1) { product, count in
            let (next, isTooMuch) = product.multipliedReportingOverflow(by: count)
            return isTooMuch ? .max : next
        }
    }

    private static func add(_ work: Int, to sum: inout Int) throws(MerchantError) {
        guard work <= mostRoundsInAll - sum else {
            throw PrivateKeyFile.malformed(
                "requires more than \(mostRoundsInAll) rounds of key derivation in total, expected at most that many")
        }
        sum += work
    }
}
