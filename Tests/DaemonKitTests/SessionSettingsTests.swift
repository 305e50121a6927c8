import DaemonKit
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

/// The settings of merchant sessions.
@Suite struct SessionSettingsTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func read(_ yaml: String) throws -> SessionPolicy {
        try Settings.read(file: scratch.write(yaml, "c.yaml"), stateDirectory: "/state", environment: [:]).sessions
    }

    @Test func `the defaults are 10 s, Apple's hosts of the environment and the refusal of unknown domains`() throws {
        #expect(
            try read("log: {level: debug}") == SessionPolicy(validationHosts: SessionHost.appleHosts(.production)))
        #expect(
            try read("environment: sandbox") == SessionPolicy(validationHosts: SessionHost.appleHosts(.sandbox)))
        #expect(SessionPolicy.defaultTimeLimit == .seconds(10))
    }

    @Test func `each setting can be set`() throws {
        let policy = try read(
            "environment: sandbox\nsessions: {time-limit: 3s, validation-hosts: [Gateway.example, '127.0.0.1:8443'], unregistered-domains: warn}"
        )
        #expect(
            policy
                == SessionPolicy(
                    timeLimit: .seconds(3),
                    validationHosts: [
                        SessionHost(name: "gateway.example"), SessionHost(name: "127.0.0.1", port: 8_443),
                    ], unregisteredDomains: .warn))
        #expect(try read("sessions: {validation-hosts: []}").validationHosts == [])
    }

    @Test(
        "an invalid value is refused with the name of its setting",
        arguments: [
            ("time-limit", "0s"), ("time-limit", "61s"), ("time-limit", "soon"),
            ("validation-hosts", "['https://apple-pay-gateway.apple.com']"),
            ("validation-hosts", "['gateway.example:8443']"),
            ("validation-hosts", "['127.0.0.1']"), ("validation-hosts", "[localhost]"), ("validation-hosts", "['']"),
            ("validation-hosts", "[gateway.example/path]"), ("unregistered-domains", "ignore"), ("other", "1"),
        ])
    func wrong(name: String, value: String) throws {
        let error = try #require(throws: SettingsError.self) { try read("sessions: {\(name): \(value)}") }
        #expect(error.description.contains("sessions.\(name)"), "\(error)")
    }
}
