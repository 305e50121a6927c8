import FoundationEssentials
package import MerchantCore
import NIOSSL
import Vocabulary

/// Somebody who asked to be told of events, as the settings name them.
package struct Webhook: Sendable {
    /// What status and log call it: its address may hold a secret.
    package let name: String
    package let address: WebhookAddress
    /// Holds what deliveries are signed with; read for each one, so that a changed secret counts at once.
    package let secretFile: String
    /// The kinds of events it gets; nil for every kind.
    package let kinds: Set<Event.Kind>?
    /// What its certificate must chain to; nil for the system's roots.
    let trustRoots: [NIOSSLCertificate]?
    /// Whether it may be on this machine or in a private network.
    package let allowsInternalAddresses: Bool

    /// - Parameter trustRoots: PEM files' contents.
    /// - Throws: ``WebhookFault`` for an address inside where that is not allowed, a secret that cannot be read, or roots
    ///   that are no certificates.
    package init(
        name: String, address: WebhookAddress, secretFile: String, kinds: Set<Event.Kind>?,
        trustRoots: [[UInt8]]?, allowsInternalAddresses: Bool
    ) throws(WebhookFault) {
        if let literal = address.literal, literal.isInternal, !allowsInternalAddresses {
            throw WebhookFault(
                "is at the internal address \(literal), expected a public one or allow-internal-addresses")
        }
        _ = try WebhookSecrets.read(secretFile)
        self.name = name
        self.address = address
        self.secretFile = secretFile
        self.kinds = kinds
        do { self.trustRoots = try trustRoots.map { try $0.flatMap(NIOSSLCertificate.fromPEMBytes) } } catch {
            throw WebhookFault("has trust roots that cannot be read, expected PEM files of certificates")
        }
        guard self.trustRoots?.isEmpty != true else {
            throw WebhookFault("has trust roots without a certificate, expected PEM files of certificates")
        }
        self.allowsInternalAddresses = allowsInternalAddresses
    }

    package var registration: WebhookRegistration { WebhookRegistration(name: name, kinds: kinds) }
}

/// Where a webhook is: an https URL without user, password or fragment.
package struct WebhookAddress: Hashable, Sendable {
    package static let longest = 2_048

    /// Lower case; an IPv6 address without brackets.
    package let host: String
    /// 443 unless said otherwise.
    package let port: Int
    /// The whole of it, with the host in lower case.
    let url: String
    /// The host, where it is an address and no name.
    let literal: NetworkAddress?

    /// - Throws: ``WebhookFault`` saying what was found and expected, without path and query, which may hold a secret.
    package init(_ text: String) throws(WebhookFault) {
        guard text.utf8.count <= Self.longest else {
            throw WebhookFault("has \(text.utf8.count) bytes, expected at most \(Self.longest)")
        }
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased() else {
            throw WebhookFault("is no URL, expected one such as https://example.com/events")
        }
        guard scheme == "https" else { throw WebhookFault("is a URL with '\(scheme)', expected https") }
        guard parts.user == nil, parts.password == nil, parts.fragment == nil else {
            throw WebhookFault("has a user, a password or a fragment, expected none")
        }
        let found = (parts.host ?? "").lowercased()
        let host = found.hasPrefix("[") && found.hasSuffix("]") ? String(found.dropFirst().dropLast()) : found
        literal = NetworkAddress(host)
        guard literal != nil || Self.isName(host) else {
            throw WebhookFault("names no host, expected a domain name or an IP address")
        }
        guard (1...65_535).contains(parts.port ?? 443) else {
            throw WebhookFault("has port \(parts.port ?? 0), expected 1 to 65535")
        }
        self.host = host
        port = parts.port ?? 443
        let authority = host.contains(":") ? "[\(host)]" : host
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        url = "https://\(authority):\(port)\(path)" + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
    }

    /// RFC 1123 section 2.1. A last part that is a number, decimal or hexadecimal, is read as an address by resolvers.
    private static func isName(_ host: String) -> Bool {
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

/// Why a webhook's settings were refused: reads on after its name or "it".
package struct WebhookFault: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
