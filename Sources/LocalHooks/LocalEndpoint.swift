import FoundationEssentials

/// The URL of a hook: an HTTP server on this machine. The connection has no TLS, so the data for the hook must not
/// leave the machine.
package struct LocalEndpoint: Hashable, Sendable {
    /// The permitted forms of an endpoint, for error messages.
    package static let expectation =
        "expected http+unix://SOCKET/PATH with a percent-encoded SOCKET, or http://HOST[:PORT]/PATH with the HOST 127.0.0.1, [::1] or localhost"

    private static let loopbackHosts: Set<String> = ["127.0.0.1", "::1", "[::1]", "localhost"]

    let url: URL

    /// - Returns: nil if the text is not such a URL.
    package init?(text: String) {
        guard let url = URL(string: text), url.user == nil, url.password == nil, url.fragment == nil,
            let host = url.host(percentEncoded: false)
        else { return nil }
        switch url.scheme {
        case "http+unix": guard host.hasPrefix("/"), url.port == nil else { return nil }
        case "http": guard Self.loopbackHosts.contains(host) else { return nil }
        default: return nil
        }
        self.url = url
    }
}
