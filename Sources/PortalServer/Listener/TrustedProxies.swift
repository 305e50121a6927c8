package import HTTPTypes
package import ServerKit

/// The reverse proxies whose reports about the address of a client are believed: the setting `portal.trusted-proxies`.
package struct TrustedProxies: Sendable {
    private let ranges: [AddressRange]

    package init(_ ranges: [AddressRange] = []) { self.ranges = ranges }

    package func contains(_ address: RemoteAddress) -> Bool { ranges.contains { $0.contains(address) } }

    /// The address of the client that sent a request.
    ///
    /// If the connection comes from a trusted proxy, this is the last address in `X-Forwarded-For` or `Forwarded` that
    /// is not a trusted proxy. Otherwise these fields are ignored, because every client can send them.
    ///
    /// If a request has both fields, they must name the same client. A proxy writes one of the fields, and may pass on
    /// the other one as the client sent it. If the fields differ, the result is the address of the connection.
    ///
    /// - Parameter peer: the address of the connection.
    package func clientAddress(of headers: HTTPFields, from peer: RemoteAddress) -> RemoteAddress {
        guard contains(peer) else { return peer }
        let reports = [ForwardedHeaders.xForwardedFor(headers), ForwardedHeaders.forwarded(headers)].compactMap { $0 }
        let clients = reports.map { lastUntrusted(in: $0, before: peer) }
        guard let client = clients.first, clients.allSatisfy({ $0 == client }) else { return peer }
        return client
    }

    /// - Parameter chain: the addresses that the proxies reported, the client's first.
    private func lastUntrusted(in chain: [RemoteAddress?], before peer: RemoteAddress) -> RemoteAddress {
        var nearest = peer
        for element in chain.reversed() {
            // The proxy does not know the address, or the client sent this part itself.
            guard let address = element else { return nearest }
            guard contains(address) else { return address }
            nearest = address
        }
        return nearest
    }
}
