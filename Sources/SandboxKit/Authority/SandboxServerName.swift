import Glibc
import SwiftASN1
import X509

/// A host name or IP address in the certificate of a web server.
package struct SandboxServerName: Hashable, Sendable {
    let text: String
    /// The 4 or 16 bytes of the IP address in network order; nil for a host name.
    private let address: [UInt8]?

    /// - Returns: nil if the text is neither a host name nor an IP address.
    package init?(_ text: String) {
        var ipv4 = in_addr()
        var ipv6 = in6_addr()
        if inet_pton(AF_INET, text, &ipv4) == 1 {
            address = withUnsafeBytes(of: ipv4) { Array($0) }
        } else if inet_pton(AF_INET6, text, &ipv6) == 1 {
            address = withUnsafeBytes(of: ipv6) { Array($0) }
        } else {
            // A coarse check that excludes URLs and ports.
            guard (1...253).contains(text.utf8.count),
                text.utf8.allSatisfy({
                    (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ":")
                })
            else { return nil }
            address = nil
        }
        self.text = text
    }

    var generalName: GeneralName {
        address.map { .ipAddress(ASN1OctetString(contentBytes: $0[...])) } ?? .dnsName(text)
    }
}
