package import AppleGateway
import Vocabulary

/// `domain-check`: the pre-flight check of a merchant's domain.
package struct DomainCheckSettings: Sendable {
    package let allowsInternalAddresses: Bool
    /// PEM files; empty: the system's roots.
    package let trustRoots: [String]
    /// The addresses to connect to instead of those that a domain name resolves to. The key is the domain name.
    package let addresses: [String: DomainCheck.Address]
    package let timeout: Duration

    init(reading reader: SettingsReader) throws {
        allowsInternalAddresses = try reader.value(
            "domain-check.allow-internal-addresses", .boolean, default: "false",
            "Whether sites may have private, loopback, link-local or other non-public addresses.")
        trustRoots =
            try reader.list(
                "domain-check.trust-roots", .text, whenUnset: "the system's roots",
                "PEM files with the roots that a site's certificate must chain to.") ?? []
        let resolve =
            try reader.list(
                "domain-check.resolve", .fixedAddress, whenUnset: "none",
                "The address to connect to instead of what a name resolves to.") ?? []
        addresses = Dictionary(resolve.map { ($0.name.rawValue, $0.address) }, uniquingKeysWith: { $1 })
        timeout = try reader.value(
            "domain-check.timeout", .timeout, default: "15s", "How long the whole check of a domain may take.")
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
