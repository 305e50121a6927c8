package import MerchantCore
package import Vocabulary

/// The settings of merchant sessions that a reload may change.
package struct SessionPolicy: Hashable, Sendable {
    /// What happens to a request whose domain, according to the daemon's records, is not registered.
    package enum UnregisteredDomains: String, NamedValue {
        case refuse
        /// The daemon logs a warning and lets Apple decide.
        case warn
    }

    /// The time limit for a whole call to Apple, including a repeat.
    package var timeLimit: Duration
    /// The hosts that a `validationURL` may name.
    package var validationHosts: [SessionHost]
    package var unregisteredDomains: UnregisteredDomains

    package static let defaultTimeLimit = Duration.seconds(10)

    package init(
        timeLimit: Duration = Self.defaultTimeLimit, validationHosts: [SessionHost],
        unregisteredDomains: UnregisteredDomains = .refuse
    ) {
        self.timeLimit = timeLimit
        self.validationHosts = validationHosts
        self.unregisteredDomains = unregisteredDomains
    }
}

extension SessionHost {
    /// The hosts that Apple publishes for merchant validation.
    ///
    /// Source: Apple, Apple Pay on the Web, "Setting Up Your Server".
    package static func appleHosts(_ environment: Environment) -> [SessionHost] {
        let names: [String] =
            switch environment {
            case .production:
                ["apple-pay-gateway"] + (1...5).map { "apple-pay-gateway-nc-pod\($0)" }
                    + (1...5).map { "apple-pay-gateway-pr-pod\($0)" } + ["cn-apple-pay-gateway"]
                    + (1...3).map { "cn-apple-pay-gateway-sh-pod\($0)" }
                    + (1...3).map { "cn-apple-pay-gateway-tj-pod\($0)" }
            case .sandbox: ["apple-pay-gateway-cert", "cn-apple-pay-gateway-cert"]
            }
        return names.map { SessionHost(name: "\($0).apple.com") }
    }

    /// Reads an entry of the setting `sessions.validation-hosts`: `HOST` or `HOST:PORT`. In the production environment,
    /// the port can only be 443.
    ///
    /// - Parameter environment: `sandbox` also permits names with one label and IPv4 addresses, for test servers.
    /// - Returns: nil if the text has another form. Upper case is converted to lower case.
    package init?(_ text: String, in environment: Environment) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let port = parts.count == 2 ? Self.port(parts[1]) : 443
        guard let port, environment == .sandbox || port == 443 else { return nil }
        guard let name = DomainName(ascii: parts[0])?.rawValue ?? Self.testName(parts[0], in: environment) else {
            return nil
        }
        self.init(name: name, port: port)
    }

    private static func port(_ text: Substring) -> Int? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let port = Int(text),
            (1...65_535).contains(port)
        else { return nil }
        return port
    }

    private static func testName(_ text: Substring, in environment: Environment) -> String? {
        let name = text.lowercased()
        guard environment == .sandbox, (1...DomainName.longest).contains(name.utf8.count),
            name.utf8.allSatisfy({ byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
                    || byte == UInt8(ascii: ".")
            })
        else { return nil }
        return name
    }
}
