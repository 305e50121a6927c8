import FoundationEssentials
package import MerchantCore
import OutboundHTTP

/// A webhook that the settings define: an HTTPS server that receives events.
package struct Webhook: Hashable, Sendable {
    /// The webhook's name. `status` and the log show the name and not the address, because the address may contain a
    /// secret.
    package let name: String
    package let address: WebhookAddress
    /// The path of the file with the secrets that sign deliveries. The daemon reads the file for each delivery, so that
    /// a changed secret takes effect immediately.
    package let secretFile: String
    /// The kinds of events to deliver; nil for every kind.
    package let kinds: Set<Event.Kind>?
    /// The receiver's TLS certificate must chain to one of these roots.
    let trustRoots: TrustRoots
    /// Whether the receiver may be on this machine or in a private network.
    package let allowsInternalAddresses: Bool

    /// - Parameter trustRoots: the contents of PEM files with root certificates; nil for the system's roots.
    /// - Throws: ``WebhookConfigurationError`` that names everything that is wrong: an internal address that is not
    ///   allowed, secrets that cannot be read, or trust roots without certificates.
    package init(
        name: String, address: WebhookAddress, secretFile: String, kinds: Set<Event.Kind>?,
        trustRoots: [[UInt8]]?, allowsInternalAddresses: Bool
    ) throws(WebhookConfigurationError) {
        var faults: [String] = []
        if let ipAddress = address.ipAddress, ipAddress.isInternal, !allowsInternalAddresses {
            faults.append(
                "is at the internal address \(ipAddress); use a public address, or set 'allow-internal-addresses'")
        }
        // Each delivery reads the file again. Reading it here only reports a wrong file at start.
        do { _ = try WebhookSecrets.read(secretFile) } catch { faults.append(error.description) }
        let roots = trustRoots.map { try? TrustRoots(pem: Array($0.joined(separator: [0x0A]))) } ?? .system
        if roots == nil {
            faults.append(
                "has trust roots without a PEM certificate; the files of 'trust-roots' must contain root certificates in PEM"
            )
        }
        guard let roots, faults.isEmpty else {
            throw WebhookConfigurationError(faults.joined(separator: "; it also "))
        }
        self.name = name
        self.address = address
        self.secretFile = secretFile
        self.kinds = kinds
        self.trustRoots = roots
        self.allowsInternalAddresses = allowsInternalAddresses
    }

    /// The part of the webhook's settings that the store keeps.
    package var registration: WebhookRegistration { WebhookRegistration(name: name, kinds: kinds) }
}

/// A webhook's address: an https URL without user, password or fragment.
package struct WebhookAddress: Hashable, Sendable {
    /// The longest URL, in bytes.
    package static let longest = 2_048

    /// The host in lower case. An IPv6 address has no brackets here.
    package let host: String
    /// 443 if the URL names no port.
    package let port: Int
    /// The whole URL, with the host in lower case.
    let url: URL
    /// The host's address if the host is an IP address; nil if it is a domain name.
    let ipAddress: NetworkAddress?

    /// - Throws: ``WebhookConfigurationError``. Its text never quotes the URL's path and query, because they may
    ///   contain a secret.
    package init(_ text: String) throws(WebhookConfigurationError) {
        guard text.utf8.count <= Self.longest else {
            throw WebhookConfigurationError("has \(text.utf8.count) bytes, expected at most \(Self.longest)")
        }
        guard let components = URLComponents(string: text), let scheme = components.scheme?.lowercased() else {
            throw WebhookConfigurationError("is not a URL, expected one such as https://example.com/events")
        }
        guard scheme == "https" else { throw WebhookConfigurationError("is a URL with '\(scheme)', expected https") }
        guard components.user == nil, components.password == nil, components.fragment == nil else {
            throw WebhookConfigurationError("has a user, a password or a fragment, expected none")
        }
        let hostInURL = (components.host ?? "").lowercased()
        // A URL has an IPv6 address in brackets.
        let isInBrackets = hostInURL.hasPrefix("[") && hostInURL.hasSuffix("]")
        let host = isInBrackets ? String(hostInURL.dropFirst().dropLast()) : hostInURL
        ipAddress = NetworkAddress(host)
        guard ipAddress != nil || Self.isDomainName(host) else {
            throw WebhookConfigurationError("has no valid host, expected a domain name or an IP address")
        }
        guard (1...65_535).contains(components.port ?? 443) else {
            throw WebhookConfigurationError("has port \(components.port ?? 0), expected 1 to 65535")
        }
        self.host = host
        port = components.port ?? 443
        let authority = host.contains(":") ? "[\(host)]" : host
        let path = components.percentEncodedPath.isEmpty ? "/" : components.percentEncodedPath
        let query = components.percentEncodedQuery.map { "?\($0)" } ?? ""
        guard let url = URL(string: "https://\(authority):\(port)\(path)\(query)") else {
            throw WebhookConfigurationError("is not a URL, expected one such as https://example.com/events")
        }
        self.url = url
    }

    /// Whether the host is a domain name by RFC 1123 section 2.1. Underscores are also permitted.
    ///
    /// Refuses a name whose last label is a decimal or hexadecimal number, because resolvers read such a name as an
    /// IPv4 address.
    private static func isDomainName(_ host: String) -> Bool {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        return host.utf8.count <= 253
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                    && label.utf8.allSatisfy { byte in
                        switch byte {
                        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
                        default: byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                        }
                    }
            } && labels.last.map { !$0.allSatisfy(\.isNumber) && !$0.hasPrefix("0x") } == true
    }
}

/// Why the settings of a webhook are refused.
///
/// The description has no subject, because the caller writes it after words such as "the webhook".
package struct WebhookConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
