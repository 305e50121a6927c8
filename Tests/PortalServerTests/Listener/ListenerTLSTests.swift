import Crypto
import Foundation
import MerchantTestSupport
import PortalServer
import Testing
import Vocabulary

@Suite struct ListenerTLSTests {
    @Test(
        "TLS 1.2 and 1.3 are served, older versions are refused",
        arguments: ["-tls1", "-tls1_1", "-tls1_2", "-tls1_3"])
    func versions(version: String) async throws {
        try await ListenerFixture.run { portal in
            // Debian's OpenSSL permits old versions only at security level 0.
            let outcome = try await portal.sClient([version, "-cipher", "ALL:@SECLEVEL=0"])
            if version == "-tls1" || version == "-tls1_1" {
                #expect(outcome.status != 0 && outcome.error.contains("protocol version"), "\(outcome.error)")
            } else {
                #expect(outcome.error.contains("CONNECTION ESTABLISHED"), "\(outcome.error)")
            }
        }
    }

    @Test(
        "TLS 1.2 has only cipher suites with forward secrecy and authenticated encryption",
        arguments: [
            ("ECDHE-ECDSA-AES128-GCM-SHA256", true), ("ECDHE-ECDSA-AES128-SHA256", false),
            ("ECDHE-ECDSA-AES256-SHA", false), ("AES128-GCM-SHA256", false), ("AES256-SHA", false),
        ])
    func cipherSuites(suite: String, isServed: Bool) async throws {
        try await ListenerFixture.run { portal in
            let outcome = try await portal.sClient(["-tls1_2", "-cipher", "\(suite):@SECLEVEL=0"])
            #expect(outcome.error.contains("CONNECTION ESTABLISHED") == isServed, "\(outcome.error)")
        }
    }

    @Test(
        "the client chooses the version of HTTP",
        arguments: [("--http1.1", "1.1"), ("--http2", "2"), ("--no-alpn", "1.1")])
    func versionOfHTTP(option: String, version: String) async throws {
        try await ListenerFixture.run { portal in
            let output = try await portal.curl(
                "/", [option, "--data-binary", "12345", "--write-out", "%{http_version} %{http_code}"])
            #expect(
                output == "peer=127.0.0.1 client=127.0.0.1 certificate=none body=5\n\(version) 200", "\(output)")
        }
    }

    @Test("the handshake succeeds with a server name that the certificate does not have")
    func unknownServerName() async throws {
        try await ListenerFixture.run { portal in
            let outcome = try await portal.sClient(["-servername", "unknown.example"])
            #expect(outcome.error.contains("CONNECTION ESTABLISHED"), "\(outcome.error)")
        }
    }

    @Test("a client that sends plain HTTP gets a page that says so, and is disconnected")
    func plainHTTP() async throws {
        try await ListenerFixture.run { portal in
            let page = try await TestCommand.output([
                "curl", "--silent", "--max-time", "20", "--write-out", "%{http_code}",
                "http://127.0.0.1:\(portal.port)/",
            ])
            #expect(page.contains("https://") && page.hasSuffix("\n400"), "\(page)")
            let responseCount = try await portal.python(
                """
                s = tcp()
                s.sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n" * 2)
                print(rest(s).count(b"HTTP/1.1 400"))
                """)
            #expect(responseCount == "1\n")
        }
    }

    @Test("random bytes end the connection")
    func randomBytes() async throws {
        try await ListenerFixture.run { portal in
            let output = try await portal.python(
                """
                import os
                for first in (0, 0x16, 0x80, 0xff):
                    s = tcp()
                    s.sendall(bytes([first]) + os.urandom(500))
                    rest(s)
                print("closed")
                """)
            #expect(output == "closed\n")
        }
    }

    @Test("the fingerprint of a verified client certificate is known until the certificate expires")
    func clientCertificate() async throws {
        try await ListenerFixture.run(withClientCA: true) { portal in
            try portal.files.issue("client", by: "ca", extensions: ["extendedKeyUsage=clientAuth"])
            let der = try ChildProcess.output(
                of: ["openssl", "x509", "-in", portal.files.path("client.pem"), "-outform", "DER"])
            let fingerprint = Hex.encode(Array(SHA256.hash(data: der)))
            let client = ["--cert", portal.files.path("client.pem"), "--key", portal.files.path("client.key")]
            for version in ["--http1.1", "--http2"] {
                let known = try await portal.curl("/", client + [version])
                #expect(known.contains("certificate=\(fingerprint) "), "\(known)")
            }
            let without = try await portal.curl("/")
            #expect(without.contains("certificate=none "))
            portal.time.value = portal.time.value.adding(.seconds(3 * 86_400))
            let expired = try await portal.curl("/", client)
            #expect(expired.contains("certificate=none "))
        }
    }

    @Test("a client certificate of another CA is refused")
    func foreignClientCertificate() async throws {
        try await ListenerFixture.run(withClientCA: true) { portal in
            try portal.files.issue("foreign")
            let failure = await #expect(throws: ChildProcess.Failure.self) {
                try await portal.curl(
                    "/", ["--cert", portal.files.path("foreign.pem"), "--key", portal.files.path("foreign.key")])
            }
            // The connection ended with an alert, or was reset: 55 while curl sent the request, 56 before a response.
            #expect([55, 56].contains(failure?.outcome.status), "\(String(describing: failure))")
        }
    }
}
