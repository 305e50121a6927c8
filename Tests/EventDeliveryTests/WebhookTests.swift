import EventDelivery
import Foundation
import Testing
import Vocabulary

@Suite("Webhook settings")
struct WebhookTests {
    private let directory = "/tmp/mkd-secret-\(UUID().uuidString.prefix(8))"

    private func secret(_ text: String, mode: Int = 0o600) throws -> String {
        let path = "\(directory)/\(UUID().uuidString)"
        _ = FileManager.default.createFile(
            atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: mode])
        return path
    }

    /// Creates the directory, and removes it after `body`.
    private func withDirectory(_ body: () throws -> Void) rethrows {
        try? FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try body()
    }

    @Test(
        "a URL must be https with a valid host, without user, password and fragment; the error does not repeat path or query",
        arguments: [
            ("http://example.com/secret?token=1", "expected https"), ("ftp://example.com/secret", "expected https"),
            ("example.com/secret", "is not a URL"), ("", "is not a URL"), ("https://", "no valid host"),
            ("https:///secret", "no valid host"), ("https://u:p@example.com/", "user"),
            ("https://example.com/#secret", "fragment"), ("https://exa_mple..com/", "no valid host"),
            ("https://0x7f000001/secret", "no valid host"), ("https://2130706433/", "no valid host"),
            ("https://127.1/", "no valid host"), ("https://example.com:0/", "port"),
            ("https://\(String(repeating: "a", count: 2_100)).com", "bytes"),
        ])
    func addresses(_ text: String, _ says: String) {
        let fault = #expect(throws: WebhookConfigurationError.self) { try WebhookAddress(text) }
        #expect(fault?.description.contains(says) == true, "\(fault?.description ?? "none")")
        #expect(fault?.description.contains("secret") == false && fault?.description.contains("token") == false)
    }

    @Test("scheme and host are case-insensitive, and the default port is 443")
    func hosts() throws {
        for (text, host, port) in [
            ("https://Example.COM/Path?q=%41", "example.com", 443), ("HTTPS://example.com:8443", "example.com", 8443),
            ("https://[2001:DB8::1]:1/x", "2001:db8::1", 1), ("https://192.0.2.1/", "192.0.2.1", 443),
        ] {
            let address = try WebhookAddress(text)
            #expect(address.host == host && address.port == port)
        }
    }

    @Test("an internal address in the URL is refused unless it is allowed")
    func inside() throws {
        try withDirectory {
            let file = try secret("0123456789abcdef")
            for host in ["127.0.0.1", "[::1]", "10.0.0.7", "169.254.169.254", "[::ffff:192.168.0.1]", "[fd00::1]"] {
                let address = try WebhookAddress("https://\(host)/")
                func webhook(_ allows: Bool) throws {
                    _ = try Webhook(
                        name: "w", address: address, secretFile: file, kinds: nil, trustRoots: nil,
                        allowsInternalAddresses: allows)
                }
                let fault = #expect(throws: WebhookConfigurationError.self) { try webhook(false) }
                #expect(fault?.description.contains("internal address") == true)
                try webhook(true)
            }
        }
    }

    @Test("a secret file has one or two secrets of 16 to 1,024 bytes and is not readable by every user")
    func secrets() throws {
        try withDirectory {
            let good = "0123456789abcdef"
            for text in [good, "\(good)\n", "\(good)\r\n\(good)2\r\n"] { _ = try WebhookSecrets.read(secret(text)) }
            _ = try WebhookSecrets.read(secret(good, mode: 0o640))
            for (text, mode, says) in [
                ("", 0o600, "no lines"), ("short", 0o600, "in bytes: 5;"),
                ("\(good)\n\(good)\n\(good)", 0o600, "one or two"),
                (String(repeating: "x", count: 1_025), 0o600, "1025"), (good, 0o604, "every user"),
                (good, 0o666, "every user"),
            ] {
                let path = try secret(text, mode: mode)
                chmod(path, mode_t(mode))
                let fault = #expect(throws: WebhookConfigurationError.self) { try WebhookSecrets.read(path) }
                #expect(fault?.description.contains(says) == true, "\(fault?.description ?? "none")")
            }
            #expect(throws: WebhookConfigurationError.self) { try WebhookSecrets.read("\(directory)/nothing") }
            #expect(throws: WebhookConfigurationError.self) { try WebhookSecrets.read(directory) }
        }
    }

    @Test("the signature is HMAC-SHA256 over time, dot and body, as openssl computes it")
    func signature() throws {
        try withDirectory {
            let secrets = try WebhookSecrets.read(secret("an old secret 01\na new secret 002"))
            let time = Timestamp(millisecondsSince1970: 1_795_237_200_987)
            let signature = secrets.signature(over: Array(#"{"a":1}"#.utf8), at: time)
            let file = "\(directory)/signed"
            try Data(#"1795237200.{"a":1}"#.utf8).write(to: URL(filePath: file))
            let expected = try ["an old secret 01", "a new secret 002"].map { key in
                let output = try Receiver.run(["openssl", "dgst", "-sha256", "-hmac", key, "-r", file])
                return ",v1=\(output.prefix(64))"
            }
            #expect(signature == "t=1795237200" + expected.joined())
        }
    }
}
