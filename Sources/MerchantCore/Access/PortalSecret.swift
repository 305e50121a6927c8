import Crypto
import Secrets
package import Vocabulary

/// A secret with which a client authenticates to the portal: an access token, or the secret of an invitation, an
/// operator's login or a session.
///
/// The text has 50 ASCII characters: 4 for the kind, 8 for the identifier, 32 random characters (190 bits), and 6 for
/// the CRC-32 of the characters before, in base 62. The prefix and the checksum let secret scanners recognize a leaked
/// secret. The daemon stores only a digest of the text. The digest needs neither a salt nor key stretching, because the
/// text cannot be guessed.
package struct PortalSecret: Sendable, CustomStringConvertible, CustomReflectable {
    /// What the secret is for. The raw value is the beginning of the text.
    package enum Kind: String, Sendable, CaseIterable {
        case access = "mka_"
        case invitation = "mki_"
        case login = "mkl_"
        case session = "mks_"
    }

    /// The length of the text, in characters.
    package static let length = 50
    private static let kindLength = 4
    private static let identifierLength = 8
    private static let randomLength = 32
    private static let checksumLength = 6

    package let kind: Kind
    /// Names the secret in the store, in lists and in a secret scanner's report. Not secret.
    package let identifier: String
    /// The secret itself. Must not be logged.
    package let text: String

    /// Generates a secret. On Linux, `SystemRandomNumberGenerator` reads random bytes from the kernel.
    package init(generating kind: Kind) {
        var generator = SystemRandomNumberGenerator()
        let random: [UInt8] = (0..<Self.identifierLength + Self.randomLength).map { _ in
            Base62.digits[Int.random(in: 0..<Base62.digits.count, using: &generator)]
        }
        let content: [UInt8] = Array(kind.rawValue.utf8) + random
        self.init(kind, content + Self.checksum(of: content))
    }

    /// The secret of the session that a browser begins with a link. If the same browser uses the same link again, it
    /// gets the same secret. To compute the secret, one needs the link and the browser's value.
    ///
    /// - Parameter browser: a value that only this browser sends. With nil, the secret is random, so each call begins a
    ///   new session.
    package static func session(begunBy link: PortalSecret, in browser: String?) -> PortalSecret {
        guard let browser else { return PortalSecret(generating: .session) }
        let length = identifierLength + randomLength
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: Array(link.text.utf8)), salt: Array(browser.utf8),
            info: Array("session of the portal".utf8), outputByteCount: 2 * length)
        let characters: [UInt8] = key.withUnsafeBytes { bytes in
            // With two bytes for each character, no character is noticeably more frequent than another.
            (0..<length).map { index in
                Base62.digits[(Int(bytes[2 * index]) << 8 | Int(bytes[2 * index + 1])) % Base62.digits.count]
            }
        }
        let content: [UInt8] = Array(Kind.session.rawValue.utf8) + characters
        return PortalSecret(.session, content + checksum(of: content))
    }

    /// - Returns: nil if the text is not a secret of this kind: it has another length, prefix or checksum, or other
    ///   characters than letters and digits.
    package init?(text: String, kind: Kind) {
        guard text.utf8.count == Self.length else { return nil }
        let characters: [UInt8] = Array(text.utf8)
        let content: [UInt8] = Array(characters.dropLast(Self.checksumLength))
        guard content.starts(with: kind.rawValue.utf8),
            content.dropFirst(Self.kindLength).allSatisfy({ Base62.digits.contains($0) }),
            Self.checksum(of: content) == Array(characters.suffix(Self.checksumLength))
        else { return nil }
        self.init(kind, characters)
    }

    private init(_ kind: Kind, _ characters: [UInt8]) {
        self.kind = kind
        identifier = String(
            decoding: characters.dropFirst(Self.kindLength).prefix(Self.identifierLength), as: UTF8.self)
        text = String(decoding: characters, as: UTF8.self)
    }

    /// What the store keeps of the secret.
    package var stored: StoredSecret {
        guard let digest = Bits256(bytes: Array(SHA256.hash(data: Array(text.utf8)))) else {
            preconditionFailure("SHA-256 yields 32 bytes, FIPS 180-4")
        }
        return StoredSecret(identifier: identifier, digest: digest)
    }

    /// The kind and the identifier, without the secret characters: `mka_1a2b3c4d…`.
    package var description: String { "\(kind.rawValue)\(identifier)…" }

    /// Without children, so that `dump` does not print the text.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }

    private static func checksum(of content: [UInt8]) -> [UInt8] {
        Base62.encode(CRC32.checksum(of: content), length: checksumLength)
    }
}

/// What the store keeps of a ``PortalSecret``. The secret cannot be computed from it.
package struct StoredSecret: Hashable, Sendable {
    /// ``PortalSecret/identifier``.
    package let identifier: String
    /// SHA-256 of the text of the secret.
    package let digest: Bits256

    package init(identifier: String, digest: Bits256) {
        self.identifier = identifier
        self.digest = digest
    }

    /// Whether ``digest`` is the digest of `secret`. The duration of the comparison does not depend on the digests.
    package func matches(_ secret: PortalSecret) -> Bool {
        ConstantTime.areEqual(digest.bytes, secret.stored.digest.bytes)
    }
}
