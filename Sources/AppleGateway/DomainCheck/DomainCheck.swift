import Foundation
package import MerchantCore
package import OutboundHTTP
package import Vocabulary

/// Checks a merchant's domain as Apple does before Apple accepts the domain: downloads the domain verification file
/// over HTTPS and compares the download with the expected file.
///
/// The check resolves the name once. It connects to none of the resulting addresses that are internal, so that the name
/// cannot lead the daemon into a private network. The settings can permit internal addresses.
package struct DomainCheck: DomainChecker {
    package struct Settings: Sendable {
        /// Whether the check may connect to internal addresses: for tests, and for merchants' sites in the daemon's
        /// private network.
        package var allowsInternalAddresses = false
        /// The certificate of the domain's server must chain to one of these roots.
        package var roots = TrustRoots.system
        /// The limit for the whole check.
        package var timeout: Duration = .seconds(15)
        /// The largest file that the check reads, in bytes. Apple's files have about 9,000.
        package var largestFile = 1 << 20
        /// For a domain name, the address and port to connect to instead of resolving the name.
        package var addresses: [String: Address] = [:]

        package init() {}
    }

    /// An IP address with or without a port, such as `192.0.2.1:8443` or `[2001:db8::1]`. The default port is 443.
    package struct Address: Hashable, Sendable {
        let address: NetworkAddress
        let port: Int

        /// - Returns: nil if `text` has another form.
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

    /// The path of the domain verification file. Source: Apple, "Preparing merchant domains for verification".
    static let path = "/.well-known/apple-developer-merchantid-domain-association"
    /// The check tries at most this many addresses of a name.
    private static let maximumAddresses = 4

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
        // Like every client, try the next address only if the connection to this address fails. Any other finding is
        // final.
        var last: (String?, DomainCheckFinding) = (nil, timedOut)
        for address in usable.prefix(Self.maximumAddresses) {
            let remaining = deadline - .now
            guard remaining > .zero else { return (address.description, timedOut) }
            last = (address.description, await fetch(address, domain, url, expecting: file, within: remaining))
            switch last.1 {
            case .connectionRefused, .connectionFailed: continue
            default: return last
            }
        }
        return last
    }

    /// Requests the file from one address, and compares the response with the expected file.
    private func fetch(
        _ address: NetworkAddress, _ domain: DomainName, _ url: String, expecting file: [UInt8],
        within timeout: Duration
    ) async -> DomainCheckFinding {
        guard let url = URL(string: url) else { return .protocolViolation("the URL is invalid") }
        var configuration = OutboundClient.Configuration()
        configuration.roots = settings.roots
        configuration.connectTimeout = timeout
        configuration.pinnedAddresses = [domain.rawValue: address]
        configuration.responseBody = .collect(upTo: settings.largestFile)
        let client = OutboundClient(configuration)
        let request = OutboundRequest(url: url, headers: [("User-Agent", "merchantkeyd domain check")])
        let finding: DomainCheckFinding
        do throws(OutboundFailure) {
            finding = Self.finding(try await client.send(request, within: timeout), expecting: file)
        } catch {
            finding = self.finding(error, address)
        }
        await client.shutdown()
        return finding
    }
}
