/// A connection to another machine must use TLS and verify the server's certificate and host name.
package enum TransportRule {
    /// - Parameter options: the options that libpq will use, by keyword.
    /// - Returns: why libpq must not connect with these options; nil if it may.
    package static func refusal(of options: [String: String]) -> String? {
        guard needsTLS(options) else { return nil }
        let mode = options["sslmode"] ?? "prefer"
        guard mode != "verify-full" else { return nil }
        return
            "has sslmode=\(mode), with which an attacker between the daemon and the database can read and change everything: set sslmode=verify-full and sslrootcert, or connect to a Unix socket or to a loopback address"
    }

    /// Whether libpq may connect to another machine: whether any of its hosts is neither a Unix socket nor a loopback
    /// address.
    static func needsTLS(_ options: [String: String]) -> Bool {
        let hosts = list(options["host"])
        let addresses = list(options["hostaddr"])
        // libpq connects to the address, if there is one, and else to the host. Each list can be shorter than the
        // other.
        return (0..<max(hosts.count, addresses.count)).contains { index in
            let address = index < addresses.count ? addresses[index] : ""
            let host = index < hosts.count ? hosts[index] : ""
            return !isLocal(address.isEmpty ? host : address)
        }
    }

    /// Without a host, libpq connects to a Unix socket. Two kinds of text name a Unix socket: a path, and `@` with an
    /// abstract name.
    private static func isLocal(_ host: String) -> Bool {
        host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host == "::1"
            || isLoopbackIPv4(host)
    }

    /// Whether the text is an address of 127.0.0.0/8 in dotted decimal form.
    private static func isLoopbackIPv4(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { part in UInt8(part) != nil && part.utf8.allSatisfy { (48...57).contains($0) } }
    }

    private static func list(_ text: String?) -> [String] {
        guard let text, !text.isEmpty else { return [""] }
        return text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
}
