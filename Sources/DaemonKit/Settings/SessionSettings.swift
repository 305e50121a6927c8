import MerchantCore
import MerchantOperations
import Vocabulary

/// `sessions`: requests to Apple for merchant sessions.
extension SessionPolicy {
    init(reading reader: SettingsReader, environment: Environment) {
        let timeLimit = reader.value(
            "sessions.time-limit", .timeout, default: "10s",
            "How long a request to Apple for a merchant session may take, including one retry.")
        let validationHosts = reader.list(
            "sessions.validation-hosts", .sessionHost(in: environment), whenUnset: "Apple's hosts for the environment",
            "The hosts that a validationURL may name: HOST, or HOST:PORT in the sandbox environment.")
        let unregisteredDomains = reader.value(
            "sessions.unregistered-domains", SettingFormat<UnregisteredDomains>.choice, default: "refuse",
            "Whether the daemon refuses a session for a domain that is not in its records: refuse or warn.")
        self.init(
            timeLimit: timeLimit, validationHosts: validationHosts ?? SessionHost.appleHosts(environment),
            unregisteredDomains: unregisteredDomains)
    }
}

extension SettingFormat where Value == SessionHost {
    fileprivate static func sessionHost(in environment: Environment) -> Self {
        Self(
            expectation: environment == .production
                ? "expected a host name such as apple-pay-gateway.apple.com, without scheme, port and path"
                : "expected HOST or HOST:PORT, without scheme and path"
        ) { SessionHost($0, in: environment) }
    }
}
