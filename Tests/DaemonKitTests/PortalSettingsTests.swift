import DaemonKit
import Foundation
import Testing

/// The settings of the group `portal`.
@Suite struct PortalSettingsTests {
    private static let files = "  tls:\n    certificate: /c.pem\n    private-key: /k.pem\n"

    private func read(_ yaml: String) throws -> PortalSettings? {
        let file = URL(filePath: NSTemporaryDirectory()).appending(path: "portal-\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(yaml.utf8).write(to: file)
        return try Settings.read(file: file.path, stateDirectory: "/state", environment: [:]).portal
    }

    @Test func `without listen there is no portal`() throws {
        #expect(try read("portal:\n  public-url: https://pay.example.com\n") == nil)
    }

    @Test func `the limits have their documented defaults`() throws {
        let limits = try #require(try read("portal:\n  listen: 127.0.0.1:8443\n\(Self.files)")).limits
        #expect(limits.connections == 4000 && limits.connectionsPerAddress == 256)
        #expect(limits.requestsPerMinuteByToken == 600 && limits.requestsPerMinuteByAddress == 1200)
    }

    @Test(arguments: [
        ("127.0.0.1:8443", "https://127.0.0.1:8443"), ("127.0.0.1:443", "https://127.0.0.1"),
        ("'[::1]:8443'", "https://[::1]:8443"), ("localhost:8443", "https://localhost:8443"),
    ])
    func `without public-url, links begin with the address on which the portal listens`(
        listen: String, url: String
    ) throws {
        let portal = try #require(try read("portal:\n  listen: \(listen)\n\(Self.files)"))
        let port = listen.contains("8443") ? 8443 : 443
        #expect(portal.publicURL == nil && portal.url(port: port) == url)
    }

    @Test func `with port 0, links have the port that the kernel chose`() throws {
        let portal = try #require(try read("portal:\n  listen: 127.0.0.1:0\n\(Self.files)"))
        #expect(portal.url(port: 40_000) == "https://127.0.0.1:40000")
    }

    @Test(arguments: [
        ("https://pay.example.com", "https://pay.example.com"), ("https://Pay.Example.COM/", "https://pay.example.com"),
        ("https://pay.example.com:443", "https://pay.example.com"),
        ("https://pay.example.com:8443", "https://pay.example.com:8443"), ("'https://[::1]'", "https://[::1]"),
    ])
    func `public-url is spelled as browsers spell an origin`(text: String, url: String) throws {
        let portal = try #require(
            try read("portal:\n  listen: 127.0.0.1:0\n  public-url: \(text)\n\(Self.files)"))
        #expect(portal.publicURL == url && portal.url(port: 1) == url)
    }

    @Test(arguments: [
        ("listen: 8443", "'portal.listen'"), ("listen: 127.0.0.1", "'portal.listen'"),
        ("listen: 127.0.0.1:65536", "'portal.listen'"), ("listen: '::1:8443'", "'portal.listen'"),
        ("public-url: http://pay.example.com", "'portal.public-url'"),
        ("public-url: https://pay.example.com/portal", "'portal.public-url'"),
        ("public-url: https://pay.example.com:0", "'portal.public-url'"),
        ("public-url: https://user@pay.example.com", "'portal.public-url'"),
        ("trusted-proxies: [proxy.example.com]", "'portal.trusted-proxies'"),
        ("trusted-proxies: [192.0.2.0/33]", "'portal.trusted-proxies'"),
        ("limits:\n    connections: 0", "'portal.limits.connections'"),
        ("limits:\n    requests-per-minute: 1", "'portal.limits.requests-per-minute'"),
        ("listen: 127.0.0.1:0", "'portal.tls.certificate'"),
        ("listen: 127.0.0.1:0\n  tls:\n    certificate: /c.pem", "'portal.tls.private-key'"),
    ])
    func `a wrong setting is refused by name`(yaml: String, name: String) throws {
        let error = try #require(throws: SettingsError.self) { try read("portal:\n  \(yaml)\n") }
        #expect(error.description.contains(name), "\(error.description)")
    }
}
