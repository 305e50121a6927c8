import Foundation
import Glibc
import MerchantTestSupport
import Testing

extension Installation {
    /// A port of the loopback interface that was free just now, for a daemon that keeps its port over restarts.
    static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 ? getsockname(descriptor, pointer, &length) : -1
            }
        }
        try #require(status == 0, "no free port")
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Writes the settings of a daemon that receives notifications on its portal and has a webhook.
    ///
    /// - Parameter further: further settings of the group `merchant-tokens`.
    /// - Returns: the file's path.
    func subscriptionSettings(
        _ apple: ApplePeer, _ webhook: WebhookReceiver, port: Int, _ further: [String] = []
    ) throws -> String {
        let portal = try serverCertificate("portal", names: ["localhost"])
        let lines =
            [
                "    timeouts:", "      answer: 2s", "environment: sandbox",
                "trust:", "  token-roots: [\(path("apple/root.pem"))]", "portal:", "  listen: \"localhost:\(port)\"",
                "  tls: {certificate: \(portal.certificate), private-key: \(portal.privateKey)}",
                "  limits: {connections-per-address: 1000, requests-per-minute-by-address: 100000}",
            ] + (further.isEmpty ? [] : ["merchant-tokens:"] + further.map { "  \($0)" }) + [webhook.settings]
        return try gatewaySettings(apple.url, further: lines)
    }

    /// Creates the secret URL for the notifications of a merchant's tokens.
    func notificationURL(_ merchant: String) throws -> String {
        try #require(
            try ctlJSON("merchant-token", "notification-url", merchant, "--new")["url"] as? String,
            "no URL for notifications")
    }

    /// The merchant token in the daemon's mirror; nil if the daemon does not know it.
    func merchantToken(_ token: String) throws -> [String: Any]? {
        Self.items(try ctlJSON("merchant-token", "list")["items"]).first {
            $0["merchantTokenIdentifier"] as? String == token
        }
    }
}

extension WebhookReceiver {
    /// Waits until an event of Apple is delivered, and expects that the daemon raised exactly one event for it.
    func delivery(
        of eventIdentifier: String, to installation: Installation, within limit: Duration = .seconds(30),
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Delivery {
        var found: [Delivery] = []
        try installation.eventually("the event is delivered", within: limit, sourceLocation: sourceLocation) {
            found = try events().filter { $0.eventIdentifier == eventIdentifier }
            return !found.isEmpty
        }
        #expect(Set(found.map(\.id)).count == 1, sourceLocation: sourceLocation)
        return try #require(found.first, sourceLocation: sourceLocation)
    }
}
