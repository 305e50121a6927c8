package import PortalServer
import Vocabulary

/// `portal`: the HTTPS server for people at merchants, for the platform's own portal, and for operators.
package struct PortalSettings: Sendable {
    package let listen: ListenAddress
    /// The beginning of every link to the portal, such as `https://pay.example.com`; nil if the setting is not set.
    /// ``url(port:)`` then returns the default.
    package let publicURL: String?
    /// The PEM files with the certificate and the private key of the server, and with the CAs of client certificates.
    package let tlsFiles: PortalTLS.Files
    package let trustedProxies: [AddressRange]
    package let limits: Limits

    /// The limits of the portal, so that its clients cannot slow down the rest of the daemon.
    package struct Limits: Sendable, Hashable {
        package let connections: Int
        package let connectionsPerAddress: Int
        package let requestsPerMinuteByToken: Int
        package let requestsPerMinuteByAddress: Int
    }

    /// The beginning of every link to the portal, without a final slash.
    ///
    /// - Parameter port: the TCP port on which the portal listens: the port that the kernel chose if the setting has
    ///   the port 0.
    package func url(port: Int) -> String { publicURL ?? Self.url(host: listen.host, port: port) }

    /// The settings of the listener.
    package var listener: PortalListenerSettings {
        var portalLimits = PortalLimits()
        portalLimits.connections = PortalLimits.Quota(
            total: limits.connections, perAddress: limits.connectionsPerAddress)
        return PortalListenerSettings(
            listen: listen, trustedProxies: TrustedProxies(trustedProxies), limits: portalLimits)
    }

    /// The rate limits of requests. A client may send as many requests at once as its limit permits in ten seconds, but
    /// at least one.
    package var rates: RequestRates.Limits {
        var rates = RequestRates.Limits()
        rates.caller = Self.rate(limits.requestsPerMinuteByToken)
        rates.address = Self.rate(limits.requestsPerMinuteByAddress)
        return rates
    }

    private static func rate(_ perMinute: Int) -> RequestRates.Rate {
        RequestRates.Rate(perMinute: perMinute, burst: max(1, perMinute / 6))
    }

    /// The URL of an HTTPS server, without a path. Browsers leave the port 443 out, so this function does too.
    fileprivate static func url(host: String, port: Int) -> String {
        let host = host.contains(":") ? "[\(host)]" : host
        return port == 443 ? "https://\(host)" : "https://\(host):\(port)"
    }
}

extension PortalSettings {
    /// - Returns: nil if `portal.listen` is not set.
    static func read(_ reader: SettingsReader) throws -> PortalSettings? {
        let listen = reader.optional(
            "portal.listen", .listenAddress, whenUnset: "no portal",
            "The address and TCP port on which the portal listens for HTTPS. With port 0, the kernel chooses a port.")
        let publicURL = reader.optional(
            "portal.public-url", .origin, whenUnset: "https:// and the value of portal.listen",
            "The URL, without a path, at which merchants and machines reach the portal. Every link begins with it.")
        let certificate = reader.optional(
            "portal.tls.certificate", .text, whenUnset: "required with portal.listen",
            "The PEM file with the portal's TLS certificate, followed by the certificates of its chain.")
        let privateKey = reader.optional(
            "portal.tls.private-key", .text, whenUnset: "required with portal.listen",
            "The PEM file with the private key of the TLS certificate, mode 0600 or 0640.")
        let clientCA = reader.optional(
            "portal.tls.client-ca", .text, whenUnset: "none: no client certificates",
            "The PEM file with the CAs that issue the client certificates of machines.")
        let trustedProxies = reader.list(
            "portal.trusted-proxies", .addressRange, whenUnset: "none",
            "The reverse proxies that report the address of a client in X-Forwarded-For or Forwarded.")
        let limits = Limits(reading: reader)
        guard let listen else { return nil }

        func required(_ path: String?, _ name: String) throws -> String {
            guard let path, !path.isEmpty else {
                throw SettingsError("'\(name)' is missing, but 'portal.listen' is set; set it to a PEM file")
            }
            return path
        }
        let certificatePath = reader.collect { try required(certificate, "portal.tls.certificate") }
        let privateKeyPath = reader.collect { try required(privateKey, "portal.tls.private-key") }
        guard let certificatePath, let privateKeyPath else { throw SettingsReader.ProblemsRecorded() }
        return PortalSettings(
            listen: listen, publicURL: publicURL,
            tlsFiles: PortalTLS.Files(certificate: certificatePath, privateKey: privateKeyPath, clientCA: clientCA),
            trustedProxies: trustedProxies ?? [],
            limits: limits)
    }
}

extension PortalSettings.Limits {
    fileprivate init(reading reader: SettingsReader) {
        connections = reader.value(
            "portal.limits.connections", .integer(in: 1...100_000), default: "4000",
            "How many connections to the portal can be open at the same time.")
        connectionsPerAddress = reader.value(
            "portal.limits.connections-per-address", .integer(in: 1...100_000), default: "256",
            "How many of these connections one client address can have. Trusted proxies have no such limit.")
        requestsPerMinuteByToken = reader.value(
            "portal.limits.requests-per-minute-by-token", .integer(in: 1...1_000_000), default: "600",
            "How many requests one access or session can send to the portal in a minute.")
        requestsPerMinuteByAddress = reader.value(
            "portal.limits.requests-per-minute-by-address", .integer(in: 1...1_000_000), default: "1200",
            "How many requests one client address can send to the portal in a minute.")
    }
}

extension SettingFormat where Value == ListenAddress {
    fileprivate static var listenAddress: Self {
        Self(expectation: "expected HOST:PORT, such as 192.0.2.1:8443 or [2001:db8::1]:8443") {
            ListenAddress(text: $0)
        }
    }
}

extension SettingFormat where Value == AddressRange {
    static var addressRange: Self {
        Self(expectation: "expected an IP address, or a range such as 10.0.0.0/8 with zeros after the prefix") {
            AddressRange(text: $0)
        }
    }
}

extension SettingFormat where Value == String {
    /// The origin of RFC 6454, in the spelling of browsers: lower case, without the port 443.
    fileprivate static var origin: Self {
        Self(expectation: "expected https://HOST or https://HOST:PORT, without a path") { text in
            let text = text.lowercased()
            guard text.hasPrefix("https://") else { return nil }
            let rest = text.dropFirst("https://".count)
            let authority = String(rest.hasSuffix("/") ? rest.dropLast() : rest)
            guard let address = ListenAddress(text: authority) ?? ListenAddress(text: "\(authority):443"),
                address.port > 0
            else { return nil }
            return PortalSettings.url(host: address.host, port: address.port)
        }
    }
}
