import Foundation
package import MerchantCore
package import OutboundHTTP
package import Vocabulary

/// Checks a merchant's domain as Apple does before it accepts the domain, and reports what Apple would refuse.
///
/// The name is resolved once, and the connection goes to one of the addresses that were checked then.
package struct DomainCheck: DomainChecker {
    package struct Settings: Sendable {
        /// For tests and for platforms whose merchants' sites are in their own network.
        package var allowsInternalAddresses = false
        /// The domain's certificate must chain to one of these.
        package var roots = TrustRoots.system
        /// For the whole check.
        package var timeout: Duration = .seconds(15)
        /// The largest file that is read, in bytes. Apple's have about 9,000.
        package var largestFile = 1 << 20
        /// By domain name, the address (and port) to connect to instead of what the name resolves to.
        package var addresses: [String: Address] = [:]

        package init() {}
    }

    /// `192.0.2.1:8443`, `[2001:db8::1]`; the default port is 443.
    package struct Address: Hashable, Sendable {
        let address: NetworkAddress
        let port: Int

        /// - Returns: nil for a text that is not an IP address with or without a port.
        package init?(_ text: String) {
            guard let parts = URLComponents(string: "https://\(text)"), let host = parts.host,
                parts.path.isEmpty, parts.query == nil, parts.user == nil
            else { return nil }
            let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
            guard let address = NetworkAddress(bare) else { return nil }
            self.address = address
            port = parts.port ?? 443
        }
    }

    /// Source: Apple, "Preparing merchant domains for verification".
    static let path = "/.well-known/apple-developer-merchantid-domain-association"
    /// How many addresses of one name are tried.
    private static let mostAddresses = 4

    let settings: Settings

    package init(settings: Settings) { self.settings = settings }

    package func check(_ domain: DomainName, expecting file: [UInt8]) async -> DomainCheckReport {
        let override = settings.addresses[domain.rawValue]
        let port = override.map { $0.port == 443 ? "" : ":\($0.port)" } ?? ""
        let url = "https://\(domain)\(port)\(Self.path)"
        let deadline = ContinuousClock.now + settings.timeout
        let (address, finding) = await finding(domain, override, url, expecting: file, until: deadline)
        return DomainCheckReport(domain: domain, url: url, address: address, finding: finding)
    }

    private func finding(
        _ domain: DomainName, _ override: Address?, _ url: String, expecting file: [UInt8],
        until deadline: ContinuousClock.Instant
    ) async -> (address: String?, finding: DomainCheckFinding) {
        let resolver = HostResolver(allowsInternalAddresses: settings.allowsInternalAddresses)
        let usable: [NetworkAddress]
        do {
            usable =
                if let override { try resolver.usable([override.address]) } else {
                    try await resolver.addresses(of: domain.rawValue, within: deadline - .now)
                }
        } catch { return (nil, finding(error)) }
        // Only an address that cannot be reached at all is followed by the next one, as in every client.
        var last: (String?, DomainCheckFinding) = (nil, timedOut)
        for address in usable.prefix(Self.mostAddresses) {
            let left = deadline - .now
            guard left > .zero else { return (address.description, timedOut) }
            last = (address.description, await fetch(address, domain, url, expecting: file, within: left))
            switch last.1 {
            case .connectionRefused, .connectionFailed: continue
            default: return last
            }
        }
        return last
    }

    private func fetch(
        _ address: NetworkAddress, _ domain: DomainName, _ url: String, expecting file: [UInt8], within left: Duration
    ) async -> DomainCheckFinding {
        guard let url = URL(string: url) else { return .protocolViolation("the URL is invalid") }
        var configuration = OutboundClient.Configuration()
        configuration.roots = settings.roots
        configuration.connectTimeout = left
        configuration.pinnedAddresses = [domain.rawValue: address]
        configuration.responseBody = .collect(upTo: settings.largestFile)
        let client = OutboundClient(configuration)
        let request = OutboundRequest(url: url, headers: [("User-Agent", "merchantkeyd domain check")])
        let finding: DomainCheckFinding
        do throws(OutboundFailure) {
            finding = Self.finding(try await client.send(request, within: left), expecting: file)
        } catch {
            finding = self.finding(error, address)
        }
        await client.shutdown()
        return finding
    }
}
