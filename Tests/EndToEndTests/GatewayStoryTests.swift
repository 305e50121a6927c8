import Foundation
import MerchantTestSupport
import Testing

/// Registrations from the command line to a gateway over mutual TLS, with the real programs.
@Suite(.enabled(if: Installation.hasPython, "needs python3 with the package cryptography")) struct GatewayStoryTests {
    enum Identity: String, CaseIterable, Sendable { case files, custody }

    static let partner = "shop|1,$"

    let installation: Installation

    init() throws {
        installation = try Installation()
        try installation.apple("init")
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
    func `a merchant's registration is made, grows, shrinks and ends at Apple as in the mirror`(
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
        // Bounds are kept before Apple is asked.
        let tooMany = try register(
            "--domain", "c0.example", "--domain", "c1.example", "--domain", "https://c.example")
        #expect(tooMany.status != 0 && tooMany.error.contains("https://c.example"), "\(tooMany.error)")
        let second = try register("--domain", "c.example")
        #expect(second.status == 0, "\(second.error)")

        let mirror = try installation.ctlJSON("registration", "details", Self.partner)
        #expect(mirror["source"] as? String == "mirror" && mirror["state"] as? String == "registered")
        #expect(domains(mirror) == ["a.example", "c.example", "xn--bcher-kva.example"])
        let answer = try installation.ctlJSON("registration", "details", Self.partner, "--refresh")
        #expect(answer["source"] as? String == "apple" && answer["encryptTo"] as? String == Installation.integrator)
        #expect(answer["partnerMerchantName"] as? String == "Größe & Söhne")
        #expect(domains(answer).sorted() == domains(mirror))

        let moved = try installation.ctl(
            "registration", "unregister", Self.partner, "--domain", "a.example", "--reason", "moved", "--yes")
        #expect(moved.status == 0, "\(moved.error)")
        for refresh in [[], ["--refresh"]] {
            let left = try Installation.run(
                [
                    "\(Installation.programs)/merchantkeyctl", "--socket", installation.adminSocket, "--output", "json",
                    "registration", "details", Self.partner,
                ] + refresh
            ).json()
            #expect(domains(left).sorted() == ["c.example", "xn--bcher-kva.example"], "\(refresh)")
        }
        let sync = try installation.ctlJSON("registration", "sync")
        #expect(sync["compared"] as? Int == 1 && (sync["findings"] as? [Any])?.isEmpty == true, "\(sync)")
        let status = try installation.ctlJSON("status")
        #expect(status["registrations"] as? Int == 1 && status["registrationCallsOpen"] as? Int == 0, "\(status)")

        let over = try installation.ctl("registration", "unregister", Self.partner, "--reason", "closed", "--yes")
        #expect(over.status == 0, "\(over.error)")
        let gone = try installation.ctl("registration", "details", Self.partner, "--refresh")
        #expect(gone.status == 1 && gone.error.contains("registrationNotFound"), "\(gone.error)")
        if apple == .sandbox { #expect(try installation.registeredAtApple().isEmpty) }
    }

    /// One attempt to register with these settings: what the command line says.
    private func refusal(_ config: String) throws -> String {
        try installation.start(config: config)
        defer { installation.stop() }
        _ = try installation.ctl("merchant", "add", Installation.integrator)
        let outcome = try register("--name", "Shop", "--domain", "a.example")
        #expect(outcome.status == 1, "\(outcome.output) \(outcome.error)")
        #expect(try installation.ctlJSON("status")["registrationCallsOpen"] as? Int == 0)
        return outcome.error
    }

    @Test func `who we are and who Apple is must be right, and a refusal names what is not`() throws {
        let (sandbox, python) = (
            try AppleServer.sandbox.start(for: installation), try AppleServer.python.start(for: installation)
        )
        let stranger = try Installation.run([
            "\(Installation.programs)/applepay-sandbox", "init", "--directory", installation.path("stranger"),
        ])
        #expect(stranger.status == 0, "\(stranger.error)")
        try installation.identityFiles("good")
        try installation.identityFiles("wrong", by: "stranger")
        try installation.identityFiles(
            "ended", ["--not-before", "2024-01-01T00:00:00Z", "--not-after", "2025-01-01T00:00:00Z"])
        for url in [AppleServer.sandbox.url(of: sandbox), AppleServer.python.url(of: python)] {
            let wrong = try refusal(installation.gatewaySettings(url, identity: "wrong"))
            #expect(wrong.contains("gatewayUnauthorized: "), "\(wrong)")
            #expect(
                wrong.contains("was not issued as an identity") || wrong.contains("does not know the CA of the client"),
                "\(wrong)")
            #expect(wrong.contains("presented: "), "\(wrong)")
            let ended = try refusal(installation.gatewaySettings(url, identity: "ended"))
            #expect(ended.contains("gatewayNotConfigured") && ended.contains("expired at 2025-01-01"), "\(ended)")
            let missing = try refusal(installation.gatewaySettings(url))
            #expect(missing.contains("found no active identity key"), "\(missing)")
            let untrusted = try refusal(installation.gatewaySettings(url, identity: "good", trusts: false))
            #expect(
                untrusted.contains("gatewayUntrusted")
                    && untrusted.contains("does not chain to a trusted root: localhost")
                    && untrusted.contains("apple.gateway.trust-roots"), "\(untrusted)")
        }
        #expect(try installation.registeredAtApple().isEmpty)
    }

    @Test func `a server of another name, one whose certificate has ended, and one that is not there are named`() throws
    {
        try installation.identityFiles("good")
        let other = try AppleServer.python.start(
            for: installation, certificate: installation.serverCertificate("other", names: ["elsewhere.example"]))
        let named = try refusal(
            installation.gatewaySettings(AppleServer.python.url(of: other), identity: "good"))
        #expect(
            named.contains("gatewayUntrusted") && named.contains("found elsewhere.example, expected localhost"),
            "\(named)")
        let old = try AppleServer.python.start(
            for: installation,
            certificate: installation.serverCertificate(
                "old", names: ["localhost"],
                ["--not-before", "2024-01-01T00:00:00Z", "--not-after", "2025-01-01T00:00:00Z"]))
        let ended = try refusal(installation.gatewaySettings(AppleServer.python.url(of: old), identity: "good"))
        #expect(
            ended.contains("the server's certificate has expired: localhost, at 2025-01-01T00:00:00Z"), "\(ended)")
        for (url, cause) in [
            ("https://localhost:1", "connection refused"), ("https://nowhere.invalid", "does not resolve"),
        ] {
            let gone = try refusal(installation.gatewaySettings(url, identity: "good"))
            #expect(gone.contains("gatewayUnavailable: Apple cannot be reached at \(url): "), "\(gone)")
            #expect(gone.contains(cause), "\(gone)")
        }
    }

    @Test func `a domain is looked at as Apple will, and what is wrong with it is named`() throws {
        let certified = try installation.serverCertificate("site", names: ["shop.example"])
        let file = try installation.write("the integrator's file", "association")
        let site = try TestServer(
            ["python3", TestScript.site, certified.certificate, certified.privateKey, file],
            output: installation.path("site.out"))
        func check(_ internals: Bool) throws -> Installation.Outcome {
            let settings = """
                domain-check:
                  allow-internal-addresses: \(internals)
                  trust-roots: [\(installation.path("apple/root.pem"))]
                  resolve: ["shop.example=127.0.0.1:\(site.announced)"]

                """
            if installation.process != nil { installation.stop() }
            try installation.start(config: installation.write(settings, "check.yaml"))
            return try installation.ctl("domain", "check", "shop.example")
        }
        let unset = try check(true)
        #expect(unset.status == 1 && unset.error.contains("domainFileNotSet"), "\(unset.error)")
        #expect(try installation.ctl("domain", "file", "--set", file).status == 0)
        let fine = try installation.ctl("domain", "check", "shop.example")
        #expect(fine.status == 0, "\(fine.output) \(fine.error)")
        let internals = try check(false)
        #expect(internals.status == 1 && internals.output.contains("127.0.0.1"), "\(internals.output)")
        let other = try installation.write("another file", "other")
        #expect(try installation.ctl("domain", "file", "--set", other).status == 0)
        let wrong = try check(true)
        #expect(wrong.status == 1 && wrong.error.contains("wrongContent"), "\(wrong.output) \(wrong.error)")
    }
}
