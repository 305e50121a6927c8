import ArgumentParser
import MerchantKeyClient
package import Vocabulary
import WireAPI

/// A key pair on the command line: its publicKeyHash, or the first characters of the hash.
package enum KeyArgument: Hashable, Sendable {
    case hash(PublicKeyHash)
    /// The first characters of the hash in Base64, Base64url or hexadecimal. The daemon finds the keys with this
    /// prefix.
    case prefix(String)

    /// The smallest number of characters in a prefix.
    package static let shortestPrefix = 4
    /// How many of several matching keys the error message lists.
    private static let maximumShownMatches = 20

    package static func parse(_ text: String) throws -> KeyArgument {
        if let hash = PublicKeyHash(anySpelling: text) { return .hash(hash) }
        // In the messages below, "it" is the argument: the argument parser prints the argument before each message.
        guard text.utf8.count >= shortestPrefix else {
            throw ValidationError(
                "it has \(text.count.counted("character")); give the key's publicKeyHash, or at least the first \(shortestPrefix) characters of it"
            )
        }
        // The longest spelling of a hash has 64 characters, so a prefix is shorter.
        guard text.utf8.count < 64, text.utf8.allSatisfy(isHashCharacter) else {
            throw ValidationError(
                "it is neither a publicKeyHash (Base64, Base64url or 64 hexadecimal digits) nor the first characters of one"
            )
        }
        return .prefix(text)
    }

    /// The hash of the key. If only a prefix is known, asks the daemon.
    ///
    /// - Throws: ``CommandFailure`` if no key, or more than one key, has the prefix.
    func resolve(_ admin: AdminClient) async throws -> PublicKeyHash {
        switch self {
        case .hash(let hash): return hash
        case .prefix(let text):
            let matches = try await admin.keys(prefix: text, limit: Self.maximumShownMatches + 1).items
            return try Self.onlyMatch(
                in: Array(matches.prefix(Self.maximumShownMatches)), prefix: text,
                hasMore: matches.count > Self.maximumShownMatches)
        }
    }

    private static func onlyMatch(
        in matches: [KeyDocument], prefix text: String, hasMore: Bool
    ) throws(CommandFailure) -> PublicKeyHash {
        guard let first = matches.first else {
            throw CommandFailure(.failed, "no key's publicKeyHash begins with '\(text)'")
        }
        guard matches.count == 1, !hasMore else {
            let lines = matches.map { "  \($0.publicKeyHash)  \($0.state)  \($0.merchantIdentifier)" }
            throw CommandFailure(
                .failed,
                "more than one publicKeyHash begins with '\(text)'; use more characters of one of these:\n"
                    + lines.joined(separator: "\n") + (hasMore ? "\n  and more" : ""))
        }
        return first.publicKeyHash
    }

    /// Whether the byte is a character of Base64 or Base64url. These include the hexadecimal digits.
    private static func isHashCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
