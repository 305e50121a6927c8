import Foundation
import Testing

/// The issuer socket of the real daemon, with the sandbox's certificates and broker.
@Suite struct IssuerSocketTests {
    let issuer: IssuerInstallation
    private var installation: Installation { issuer.installation }

    init() throws { issuer = try IssuerInstallation() }

    @Test func `the sandbox's broker accepts a card that the daemon encrypted`() throws {
        try issuer.write()
        try issuer.start()
        let pass = try issuer.send(issuer.request())
        #expect(pass["code"] == nil && pass["activationData"] as? String == "T1RQLTEyMw==")
        let file = installation.path("pass.json")
        try JSONSerialization.data(withJSONObject: pass).write(to: URL(filePath: file))
        let broker = try Installation.run([
            "\(Installation.programs)/applepay-sandbox", "provision", file, "--directory", installation.path("apple"),
        ])
        #expect(broker.status == 0, "\(broker.output) \(broker.error)")
        let records = try installation.auditRecords("cardDataEncrypted")
        #expect(records.count == 1 && records.first?["after"] as? String == "encrypted")
    }

    @Test func `a nonce stays used after the daemon was killed`() throws {
        try issuer.write()
        try issuer.start()
        let request = try issuer.request(nonce: "00000001")
        #expect(try issuer.code(request) == nil)
        installation.stop(SIGKILL)
        try issuer.start()
        #expect(try issuer.code(request) == "nonceAlreadyClaimed")
        #expect(try issuer.code(issuer.request(nonce: "00000002")) == nil)
    }

    @Test func `a changed provisioning.enabled takes effect with a reload, and is in the audit`() throws {
        try issuer.write("enabled: true")
        try issuer.start()
        try issuer.write("enabled: false")
        #expect(try issuer.code(issuer.request(nonce: "00000001")) == nil)
        try issuer.reload()
        #expect(try issuer.code(issuer.request(nonce: "00000002")) == "provisioningDisabled")
        #expect(try installation.curl(issuer.socket, "/v1/health").output == "200")
        try issuer.write("enabled: true")
        try issuer.reload()
        #expect(try issuer.code(issuer.request(nonce: "00000002")) == nil)
        let records = try installation.auditRecords("settingsReloaded")
        #expect(records.allSatisfy { $0["after"] as? String == "provisioning.enabled" } && records.count == 2)
    }

    @Test func `a reload without the settings group disables provisioning, and a new group needs a restart`() throws {
        try issuer.write()
        try issuer.start()
        let original = try String(contentsOfFile: installation.path("daemon.yaml"), encoding: .utf8)
        let end = try #require(original.range(of: "provisioning:\n")).lowerBound
        _ = try installation.write(String(original[..<end]), "daemon.yaml")
        try issuer.reload()
        #expect(try issuer.code(issuer.request()) == "provisioningDisabled")
        installation.stop()
        try installation.start(config: installation.path("daemon.yaml"))
        #expect(!FileManager.default.fileExists(atPath: issuer.socket))
        try issuer.write("enabled: true")
        let reload = try installation.ctlJSON("reload")
        let pending = Installation.items(reload["needsRestart"]).compactMap { $0["name"] as? String }
        #expect(Set(pending) == ["provisioning.enabled", "provisioning.trust-roots"])
        #expect(reload["changed"] as? [String] == [])
        #expect(!FileManager.default.fileExists(atPath: issuer.socket))
    }

    @Test func `a command gives the activation data, and a reload applies another command`() throws {
        let input = installation.path("input.json")
        try issuer.write(
            "activation: {command: [/bin/sh, -c, 'cat >\(input); echo \"{\\\"activationData\\\": \\\"MQ==\\\"}\"']}")
        try issuer.start()
        let pass = try issuer.send(issuer.request(nonce: "00000001") { $0["activationData"] = nil })
        #expect(pass["activationData"] as? String == "MQ==", "\(pass["detail"] ?? "")")
        #expect(try String(contentsOfFile: input, encoding: .utf8).contains(IssuerInstallation.cardNumber))
        try issuer.write("activation: {command: [/bin/sh, -c, 'cat >&2; exit 1']}")
        try issuer.reload()
        let request = try issuer.request(nonce: "00000002") { $0["activationData"] = nil }
        #expect(try issuer.code(request) == "activationFailed")
        try issuer.write()
        try issuer.reload()
        #expect(try issuer.code(request) == nil)
        #expect(!installation.log.contains(IssuerInstallation.cardNumber))
    }

    @Test func `config check and diagnose report the issuer socket and a hook that cannot be run`() throws {
        try issuer.write("activation: {command: [/nowhere/at-all]}")
        let config = installation.path("daemon.yaml")
        let check = try Installation.run(
            [
                "\(Installation.programs)/merchantkeyd", "config-check", "--config", config, "--state-directory",
                installation.stateDirectory,
            ])
        #expect(check.status == 4 && check.output.contains("/nowhere/at-all"), "\(check.output)")
        try issuer.start()
        let diagnosis = try installation.diagnose("--config", config)
        #expect(diagnosis.outcome("issuer socket") == "success", "\(diagnosis.detail("issuer socket"))")
        installation.stop()
        #expect(try installation.diagnose("--config", config).outcome("issuer socket") == "warning")
    }

    @Test func `the metrics count the requests by outcome, and name no card`() throws {
        try issuer.write()
        try issuer.start()
        let request = try issuer.request()
        #expect(try issuer.code(request) == nil)
        #expect(try issuer.code(request) == "nonceAlreadyClaimed")
        let page = try installation.curlBody(installation.adminSocket, "/metrics").output
        for outcome in ["encrypted", "nonceAlreadyClaimed"] {
            #expect(page.contains("merchantkeyd_provisioning_requests_total{outcome=\"\(outcome)\"} 1\n"), "\(outcome)")
        }
        #expect(page.contains("server=\"issuer\"") && !page.contains(IssuerInstallation.cardNumber))
    }
}
