import DaemonKit
import Foundation
import LocalHooks
import MerchantTestSupport
import PassProvisioning
import Testing

/// The settings of in-app provisioning.
@Suite struct ProvisioningSettingsTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func read(_ yaml: String, environment: [String: String] = [:]) throws -> Settings {
        try Settings.read(
            file: scratch.write(yaml, "c.yaml"), stateDirectory: "/state", environment: environment)
    }

    private func refusal(_ yaml: String) throws -> String {
        try #require(throws: SettingsError.self) { try read(yaml) }.description
    }

    @Test func `without the group there is no provisioning, whatever the path of its socket`() throws {
        #expect(try read("log: {level: debug}").provisioning == nil)
        #expect(try read("provisioning:").provisioning == nil)
        #expect(try read("provisioning: {validity-period: null}").provisioning == nil)
        #expect(try read("sockets: {issuer: {path: /run/i.sock}}").provisioning == nil)
    }

    @Test func `another setting of the group switches provisioning on, unless enabled is false`() throws {
        #expect(try read("provisioning: {enabled: true}").provisioning?.isEnabled == true)
        #expect(try read("provisioning: {enabled: false}").provisioning?.isEnabled == false)
        #expect(try read("provisioning: {audit-last-four-digits: true}").provisioning?.isEnabled == true)
        let variable = try read("log: {level: debug}", environment: ["MERCHANTKEYD_PROVISIONING_ENABLED": "true"])
        #expect(variable.provisioning?.isEnabled == true)
    }

    @Test func `enabled without a value is refused, because provisioning would not be switched off`() throws {
        #expect(try refusal("provisioning: {enabled: , validity-period: checked}").contains("provisioning.enabled"))
        #expect(try refusal("provisioning: {enabled: maybe}").contains("provisioning.enabled"))
    }

    @Test func `the defaults are Apple's root, checked validity, no digits in the audit and no hook`() throws {
        let settings = try read("provisioning: {enabled: true}")
        let provisioning = try #require(settings.provisioning)
        #expect(provisioning.trustRoots == [] && provisioning.validityPeriod == .checked)
        #expect(!provisioning.auditsLastFourDigits && provisioning.activation == nil)
        #expect(settings.issuerSocket.path == "/state/issuer.sock" && settings.issuerSocket.mode == 0o600)
    }

    @Test func `a hook is a command or an endpoint, with a time limit`() throws {
        let command = try read("provisioning: {activation: {command: [/bin/otp, -v], time-limit: 3s}}")
        #expect(
            command.provisioning?.activation
                == ActivationSettings(hook: .command(["/bin/otp", "-v"]), timeLimit: .seconds(3)))
        let url = try read("provisioning: {activation: {url: 'http://127.0.0.1:9000/otp'}}")
        let endpoint = try #require(LocalEndpoint(text: "http://127.0.0.1:9000/otp"))
        #expect(
            url.provisioning?.activation == ActivationSettings(hook: .endpoint(endpoint), timeLimit: .seconds(10)))
        #expect(try read("provisioning: {activation: {time-limit: 3s}}").provisioning?.activation == nil)
        for wrong in [
            "{command: [otp]}", "{command: []}", "{url: 'https://127.0.0.1/'}", "{time-limit: 61s}",
            "{command: [/bin/otp], url: 'http://127.0.0.1/'}",
        ] {
            #expect(try refusal("provisioning: {activation: \(wrong)}").contains("provisioning.activation"), "\(wrong)")
        }
    }
}
