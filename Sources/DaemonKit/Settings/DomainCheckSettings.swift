package import AppleGateway
import Vocabulary

/// `domain-check`: the daemon's own check of a merchant's domain, before Apple checks the domain at a registration.
package struct DomainCheckSettings: Sendable {
    package let allowsInternalAddresses: Bool
    /// PEM files with root certificates. If empty, the system's root certificates are used.
    package let trustRoots: [String]
    /// The addresses to connect to instead of those that a domain name resolves to. The key is the domain name.
    package let addresses: [String: DomainCheck.Address]
    package let timeout: Duration

    init(reading reader: SettingsReader) {
        allowsInternalAddresses = reader.value(
            "domain-check.allow-internal-addresses", .boolean, default: "false",
            "Whether the check may connect to private, loopback, link-local and other addresses that are not public.")
        trustRoots =
            reader.list(
                "domain-check.trust-roots", .text, whenUnset: "the system's roots",
                "PEM files with the roots that the TLS certificate of a domain must chain to.") ?? []
        let resolve =
            reader.list(
                "domain-check.resolve", .fixedAddress, whenUnset: "none",
                "Addresses that the check uses instead of DNS.") ?? []
        addresses = Dictionary(resolve.map { ($0.name.rawValue, $0.address) }, uniquingKeysWith: { $1 })
        timeout = reader.value(
            "domain-check.timeout", .timeout, default: "15s", "How long one check of a domain may take.")
    }
}

extension SettingFormat where Value == (name: DomainName, address: DomainCheck.Address) {
    fileprivate static var fixedAddress: Self {
        Self(expectation: "expected NAME=ADDRESS or NAME=ADDRESS:PORT") { text in
            let parts = text.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let name = DomainName(ascii: parts[0]),
                let address = DomainCheck.Address(String(parts[1]))
            else { return nil }
            return (name, address)
        }
    }
}
