import Foundation
import MerchantTestSupport
import Testing

/// Registrations from the command line to a gateway over mutual TLS.
@Suite(.enabled(if: Installation.hasPython, "python3 or its package cryptography is not installed"))
struct GatewayTests {
    enum Identity: String, CaseIterable, Sendable { case files, custody }

    static let partner = "shop|1,$"

    let installation: Installation

    init() throws {
        installation = try Installation()
        try installation.apple("init")
    }

    @Test(.onlyOnSQLite) func `a call to Apple leaves no directories in the home directory of the daemon's user`()
        throws
    {
        let apple = try #require(AppleServer.allCases.first)
        let server = try apple.start(for: installation)
        try installation.identityFiles("good")
        // The state directory is the home directory of the package's user.
        try installation.createStateDirectory()
        try installation.start(
            config: installation.gatewaySettings(apple.url(of: server), identity: "good"),
            environment: ["HOME": installation.stateDirectory, "XDG_CACHE_HOME": "", "XDG_DATA_HOME": ""])
        #expect(try installation.ctl("merchant", "add", Installation.integrator).status == 0)
        #expect(try register("--name", "Shop", "--domain", "a.example").status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: installation.stateDirectory)
        #expect(names.contains("merchantkeyd.sqlite"))
        #expect(!names.contains(".cache") && !names.contains(".local"), "\(names)")
    }

    private func domains(_ document: [String: Any]) -> [String] { document["domainNames"] as? [String] ?? [] }

    private func register(_ arguments: String...) throws -> Installation.Outcome {
        try Installation.run(
            [
                "\(Installation.programs)/merchantkeyctl", "--socket", installation.adminSocket, "registration",
                "register", Self.partner,
            ] + arguments)
    }

    @Test(arguments: AppleServer.allCases, Identity.allCases)
    func `a registration and each change of its domains reach Apple and the daemon's record`(
        apple: AppleServer, identity: Identity
    ) throws {
        let server = try apple.start(for: installation)
        if identity == .files { try installation.identityFiles("good") }
        try installation.start(
            config: installation.gatewaySettings(
                apple.url(of: server), identity: identity == .files ? "good" : nil))
        #expect(try installation.ctl("merchant", "add", Installation.integrator).status == 0)
        if identity == .custody {
            _ = try installation.certifiedKey(Installation.integrator, "identity", "--purpose", "identity")
        }

        let first = try register("--name", "Größe & Söhne", "--domain", "a.example", "--domain", "bücher.example")
        #expect(first.status == 0, "\(first.error)")
        // The domain names are validated before a request to Apple.
        let invalid = try register(
            "--domain", "c0.example", "--domain", "c1.example", "--domain", "https://c.example")
        #expect(invalid.status != 0 && invalid.error.contains("https://c.example"), "\(invalid.error)")
        let second = try register("--domain", "c.example")
        #expect(second.status == 0, "\(second.error)")

        let record = try installation.ctlJSON("registration", "details", Self.partner)
        #expect(record["source"] as? String == "mirror" && record["state"] as? String == "registered")
        #expect(domains(record) == ["a.example", "c.example", "xn--bcher-kva.example"])
        let response = try installation.ctlJSON("registration", "details", Self.partner, "--refresh")
        #expect(response["source"] as? String == "apple" && response["encryptTo"] as? String == Installation.integrator)
        #expect(response["partnerMerchantName"] as? String == "Größe & Söhne")
        #expect(domains(response).sorted() == domains(record))

        let moved = try installation.ctl(
            "registration", "unregister", Self.partner, "--domain", "a.example", "--reason", "moved", "--yes")
        #expect(moved.status == 0, "\(moved.error)")
        for refresh in [[], ["--refresh"]] {
            let remaining = try Installation.run(
                [
                    "\(Installation.programs)/merchantkeyctl", "--socket", installation.adminSocket, "--output", "json",
                    "registration", "details", Self.partner,
                ] + refresh
            ).json()
            #expect(domains(remaining).sorted() == ["c.example", "xn--bcher-kva.example"], "\(refresh)")
        }
        let sync = try installation.ctlJSON("registration", "sync")
        #expect(sync["compared"] as? Int == 1 && (sync["findings"] as? [Any])?.isEmpty == true, "\(sync)")
        let status = try installation.ctlJSON("status")
        #expect(status["registrations"] as? Int == 1 && status["registrationCallsOpen"] as? Int == 0, "\(status)")

        let closed = try installation.ctl("registration", "unregister", Self.partner, "--reason", "closed", "--yes")
        #expect(closed.status == 0, "\(closed.error)")
        let unregistered = try installation.ctl("registration", "details", Self.partner, "--refresh")
        #expect(unregistered.status == 1 && unregistered.refusalCode == "registrationNotFound", "\(unregistered.error)")
        if apple == .sandbox { #expect(try installation.registeredAtApple().isEmpty) }
    }

    /// Expects that a registration with these settings is refused.
    private func expectRefusal(
        _ code: String, _ config: String, naming values: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try installation.start(config: config)
        defer { installation.stop() }
        _ = try installation.ctl("merchant", "add", Installation.integrator)
        let outcome = try register("--name", "Shop", "--domain", "a.example")
        #expect(outcome.status == 1, "\(outcome.output)", sourceLocation: sourceLocation)
        #expect(outcome.refusalCode == code, "\(outcome.error)", sourceLocation: sourceLocation)
        for value in values {
            #expect(outcome.error.contains(value), "\(outcome.error)", sourceLocation: sourceLocation)
        }
        #expect(
            try installation.ctlJSON("status")["registrationCallsOpen"] as? Int == 0, sourceLocation: sourceLocation)
    }

    @Test
    func `a registration names the reason if the client certificate or the server's certificate is not accepted`()
        throws
    {
        let (sandbox, python) = (
            try AppleServer.sandbox.start(for: installation), try AppleServer.python.start(for: installation)
        )
        let other = try Installation.run([
            "\(Installation.programs)/applepay-sandbox", "init", "--directory", installation.path("other"),
        ])
        #expect(other.status == 0, "\(other.error)")
        try installation.identityFiles("good")
        try installation.identityFiles("untrusted", by: "other")
        try installation.identityFiles(
            "expired", ["--not-before", "2024-01-01T00:00:00Z", "--not-after", "2025-01-01T00:00:00Z"])
        for url in [AppleServer.sandbox.url(of: sandbox), AppleServer.python.url(of: python)] {
            try expectRefusal("gatewayUnauthorized", installation.gatewaySettings(url, identity: "untrusted"))
            try expectRefusal(
                "gatewayNotConfigured", installation.gatewaySettings(url, identity: "expired"), naming: "2025-01-01")
            try expectRefusal("gatewayNotConfigured", installation.gatewaySettings(url))
            try expectRefusal(
                "gatewayUntrusted", installation.gatewaySettings(url, identity: "good", trusts: false),
                naming: "localhost", "apple.gateway.trust-roots")
        }
        #expect(try installation.registeredAtApple().isEmpty)
    }

    @Test func `a server with another name, an expired certificate or no listener is refused with the fault or URL`()
        throws
    {
        try installation.identityFiles("good")
        let other = try AppleServer.python.start(
            for: installation, certificate: installation.serverCertificate("other", names: ["elsewhere.example"]))
        try expectRefusal(
            "gatewayUntrusted", installation.gatewaySettings(AppleServer.python.url(of: other), identity: "good"),
            naming: "elsewhere.example", "localhost")
        let old = try AppleServer.python.start(
            for: installation,
            certificate: installation.serverCertificate(
                "old", names: ["localhost"],
                ["--not-before", "2024-01-01T00:00:00Z", "--not-after", "2025-01-01T00:00:00Z"]))
        try expectRefusal(
            "gatewayUntrusted", installation.gatewaySettings(AppleServer.python.url(of: old), identity: "good"),
            naming: "localhost", "2025-01-01T00:00:00Z")
        for url in ["https://localhost:1", "https://nowhere.invalid"] {
            try expectRefusal("gatewayUnavailable", installation.gatewaySettings(url, identity: "good"), naming: url)
        }
    }

    @Test func `a domain check needs a domain file, and reports an internal address and wrong content`() throws {
        let certified = try installation.serverCertificate("site", names: ["shop.example"])
        let file = try installation.write("the integrator's file", "association")
        let site = try TestServer(
            ["python3", TestScript.site, certified.certificate, certified.privateKey, file],
            output: installation.path("site.out"))
        func check(_ allowsInternalAddresses: Bool) throws -> Installation.Outcome {
            let settings = """
                domain-check:
                  allow-internal-addresses: \(allowsInternalAddresses)
                  trust-roots: [\(installation.path("apple/root.pem"))]
                  resolve: ["shop.example=127.0.0.1:\(site.announced)"]

                """
            if installation.process != nil { installation.stop() }
            try installation.start(config: installation.write(settings, "check.yaml"))
            return try installation.ctl("--output", "json", "domain", "check", "shop.example")
        }
        func kinds(_ outcome: Installation.Outcome) throws -> [String] {
            (try outcome.json()["findings"] as? [[String: Any]] ?? []).compactMap { $0["kind"] as? String }
        }
        let unset = try check(true)
        #expect(unset.status == 1 && unset.refusalCode == "domainFileNotSet", "\(unset.error)")
        #expect(try installation.ctl("domain", "file", "--set", file).status == 0)
        let ready = try installation.ctl("domain", "check", "shop.example")
        #expect(ready.status == 0, "\(ready.output) \(ready.error)")
        let refused = try check(false)
        #expect(try refused.status == 1 && kinds(refused) == ["addressRefused"], "\(refused.output)")
        let other = try installation.write("another file", "other")
        #expect(try installation.ctl("domain", "file", "--set", other).status == 0)
        let wrong = try check(true)
        #expect(try wrong.status == 1 && kinds(wrong) == ["wrongContent"], "\(wrong.output) \(wrong.error)")
    }
}
