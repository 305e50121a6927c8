import MerchantCore
import Testing
import Vocabulary

@Suite struct PortalSecretTests {
    private static let letters: [Character] = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")

    @Test(arguments: PortalSecret.Kind.allCases)
    func `a generated secret is read again, with the same identifier and digest`(kind: PortalSecret.Kind) throws {
        let secret = PortalSecret(generating: kind)
        #expect(secret.text.count == 50 && secret.text.hasPrefix(kind.rawValue))
        #expect(secret.text.allSatisfy { Self.letters.contains($0) || $0 == "_" })
        #expect(String(secret.text.dropFirst(4).prefix(8)) == secret.identifier)
        let read = try #require(PortalSecret(text: secret.text, kind: kind))
        #expect(read.identifier == secret.identifier && read.text == secret.text && read.stored == secret.stored)
    }

    @Test func `the checksum is the CRC-32 of the characters before it, in base 62`() {
        // python3 -c 'import zlib; print(zlib.crc32(b"mka_" + b"0" * 8 + b"a" * 32))' prints 2117379981.
        let content = "mka_" + String(repeating: "0", count: 8) + String(repeating: "a", count: 32)
        #expect(PortalSecret(text: content + "2JIJG1", kind: .access)?.identifier == "00000000")
    }

    @Test func `the checksum detects each changed character`() {
        let secret = PortalSecret(generating: .access)
        let characters: [Character] = Array(secret.text)
        for index in characters.indices {
            for letter in Self.letters where letter != characters[index] {
                var changed = characters
                changed[index] = letter
                #expect(PortalSecret(text: String(changed), kind: .access) == nil, "\(index) \(letter)")
            }
        }
    }

    @Test(arguments: PortalSecret.Kind.allCases)
    func `a secret of another kind is refused`(kind: PortalSecret.Kind) {
        let secret = PortalSecret(generating: kind)
        for other in PortalSecret.Kind.allCases where other != kind {
            #expect(PortalSecret(text: secret.text, kind: other) == nil)
            #expect(PortalSecret(text: other.rawValue + String(secret.text.dropFirst(4)), kind: other) == nil)
        }
    }

    @Test func `text with another length or alphabet is refused`() {
        let text = PortalSecret(generating: .session).text
        let others = [
            "", "mks_", String(text.dropLast()), text + "0", " " + text, text + "\n", text.uppercased(),
            String(text.dropLast()) + "é", "mks_" + String(repeating: "-", count: 46),
            String(repeating: text, count: 1000),
        ]
        for other in others { #expect(PortalSecret(text: other, kind: .session) == nil, "\(other.prefix(60))") }
    }

    @Test func `no description contains the secret part`() {
        let secret = PortalSecret(generating: .invitation)
        let secretPart = String(secret.text.dropFirst(12).prefix(32))
        var dumped = ""
        dump(secret, to: &dumped)
        dump([secret], to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), "\([secret])", "\(secret.stored)", dumped] {
            #expect(!text.contains(secretPart))
        }
        #expect("\(secret)" == "mki_\(secret.identifier)…")
    }

    @Test func `a stored secret matches only its own secret`() {
        let secrets: [PortalSecret] = (0..<100).map { _ in PortalSecret(generating: .login) }
        for (index, secret) in secrets.enumerated() {
            #expect(secrets.indices.filter { secrets[$0].stored.matches(secret) } == [index])
        }
        #expect(Set(secrets.map(\.identifier)).count == secrets.count)
        #expect(Set(secrets.map(\.stored.digest)).count == secrets.count)
    }
}

@Suite struct PortalSessionTests {
    @Test(arguments: [
        (0, 0, true), (0, 30 * 60 - 1, true), (0, 30 * 60, false), (12 * 3600 - 60, 12 * 3600 - 1, true),
        (12 * 3600 - 60, 12 * 3600, false),
    ])
    func `a session ends after 30 minutes without a request, and after 12 hours`(
        lastSeen: Int, now: Int, isValid: Bool
    ) throws {
        let digest = try #require(Bits256(bytes: [UInt8](repeating: 0, count: 32)))
        let time = Timestamp(millisecondsSince1970: 1_780_000_000_000)
        let session = PortalSession(
            secret: StoredSecret(identifier: "00000000", digest: digest), holder: .operating(uid: 0, groups: []),
            createdAt: time, lastSeenAt: time.adding(.seconds(lastSeen)))
        #expect(session.isValid(at: time.adding(.seconds(now))) == isValid)
    }
}
