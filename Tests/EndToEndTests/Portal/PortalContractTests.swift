import Foundation
import MerchantTestSupport
import Testing

enum Schemathesis {
    static let isInstalled = ChildProcess.succeeds("python3", "-c", "import schemathesis, yaml")
}

/// The portal's part of `schema/openapi.yaml`, compared with the running daemon over TLS.
@Suite(
    .tags(.slow), .skippedInQuickRuns,
    .enabled(if: Schemathesis.isInstalled, "Python's package schemathesis is not installed"))
struct PortalContractTests {
    static let merchant = "merchant.com.example.contract"

    /// How the parameters of the requests are chosen.
    enum Parameters: CaseIterable {
        /// Those of records that exist, so that most requests succeed.
        case existing
        case random
    }

    @Test(
        "schemathesis finds no response of the portal that differs from the contract", arguments: Parameters.allCases)
    func contract(_ parameters: Parameters) throws {
        let installation = try Installation()
        try installation.apple("init")
        let gateway = try AppleServer.sandbox.start(for: installation, ["--resolve", "shop.example.com=127.0.0.1:1"])
        defer { withExtendedLifetime(gateway) {} }
        let server = try installation.serverCertificate("portal", names: ["localhost"])
        let settings = try installation.gatewaySettings(
            AppleServer.sandbox.url(of: gateway),
            further: [
                // Proxies have no limit of connections, and each request names another client's address.
                "portal:", "  listen: 127.0.0.1:0", "  trusted-proxies: [127.0.0.1]",
                "  tls: {certificate: \(server.certificate), private-key: \(server.privateKey)}",
                "  limits: {requests-per-minute-by-token: 1000000}",
                "merchant-tokens: {sources: [0.0.0.0/0]}",
                // The example in openapi.yaml names Apple's host, which the test must not call.
                "sessions: {validation-hosts: []}",
            ])
        try installation.start(config: settings)
        let port = try installation.portalPort()
        for identifier in [Installation.integrator, Self.merchant] {
            #expect(try installation.ctl("merchant", "add", identifier).status == 0)
        }
        _ = try installation.certifiedKey(Installation.integrator, "identity", "--purpose", "identity")
        let hash = try installation.certifiedKey(Self.merchant, "key")
        let file = try installation.write("the integrator's file", "association")
        #expect(try installation.ctl("domain", "file", "--set", file).status == 0)
        let access = try installation.ctlJSON(
            "access", "create", "contract", "--permit", "onboard", "--permit", "merchantSession", "--merchant",
            Self.merchant)
        let token = try installation.write(try #require(access["token"] as? String), "token")

        var arguments = [
            "portal", port, Self.openAPI, "--ca", installation.path("apple/root.pem"), "--access-token", token,
        ]
        switch parameters {
        case .existing:
            arguments += [
                "--max-time", "60", "merchantIdentifier=\(Self.merchant)", "merchant=\(Self.merchant)",
                "publicKeyHash=\(pathSpelling(hash))",
            ]
        case .random: arguments += ["--max-time", "20"]
        }
        let script = try #require(
            Bundle.module.path(forResource: "contract", ofType: "py", inDirectory: "Scripts/contract"))
        let outcome = try Installation.run(["timeout", "600", "python3", script] + arguments)
        #expect(outcome.status == 0, "\(outcome.output.suffix(12000)) \(outcome.error)")
    }

    static let openAPI = URL(filePath: #filePath).appending(path: "../../../../schema/openapi.yaml")
        .standardized.path
}
