import FoundationEssentials
import Glibc
import NIOSSL

/// Why the client does not trust a server's certificate, and which certificate it is.
package struct UntrustedServer: Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        /// A certificate of the server's chain has expired, or is not valid yet.
        case expired, notYetValid
        /// The names in the server's own certificate do not include the host.
        case otherName
        /// The certificate does not chain to a trusted root.
        case untrusted
    }

    package let reason: Reason
    /// Names the certificate, and what is wrong with it.
    package let detail: String

    package var description: String {
        switch reason {
        case .expired: "the server's certificate has expired: \(detail)"
        case .notYetValid: "the server's certificate is not valid yet: \(detail)"
        case .otherName: "the server's certificate is for another name: \(detail)"
        case .untrusted: "the server's certificate does not chain to a trusted root: \(detail)"
        }
    }
}

extension UntrustedServer {
    /// Finds the reason of a failed verification in the certificates that the server presented.
    ///
    /// - Parameters:
    ///   - certificates: the certificates that the server presented, its own first.
    ///   - reason: the reason that TLS reported. It is replaced if a certificate has expired or is not valid yet.
    ///   - host: the name that the server's own certificate must contain.
    init(_ certificates: [NIOSSLCertificate], reason: Reason, host: String) {
        let now = time_t(Date().timeIntervalSince1970)
        if let expired = certificates.first(where: { $0.notValidAfter < now }) {
            self.init(
                reason: .expired, detail: "\(Self.name(expired)), at \(Self.time(expired.notValidAfter))")
        } else if let early = certificates.first(where: { $0.notValidBefore > now }) {
            self.init(
                reason: .notYetValid, detail: "\(Self.name(early)), from \(Self.time(early.notValidBefore)) on")
        } else if let own = certificates.first {
            let names = Self.names(own)
            let found = names.isEmpty ? "none" : names.joined(separator: ", ")
            let others = certificates.count > 1 ? " and \(certificates.count - 1) more in its chain" : ""
            self.init(
                reason: reason,
                detail: reason == .otherName
                    ? "its names are \(found), expected \(host)"
                    : "\(Self.name(own))\(others)")
        } else {
            self.init(reason: reason, detail: "the server presented no certificate")
        }
    }

    /// At most ten names, because some certificates have hundreds.
    private static func names(_ certificate: NIOSSLCertificate) -> [String] {
        certificate._subjectAlternativeNames().prefix(10).map { name in
            switch name.nameType {
            case .dnsName: String(decoding: name.contents, as: UTF8.self).printableASCII()
            case .ipAddress where name.contents.count == 4: name.contents.map { String($0) }.joined(separator: ".")
            default: "a name of another kind"
            }
        }
    }

    private static func name(_ certificate: NIOSSLCertificate) -> String {
        // Adding 0x100 gives every byte three digits, of which the first is dropped. So leading zeros are kept.
        let serialNumber = certificate.serialNumber.map { String(Int($0) + 0x100, radix: 16).dropFirst() }.joined()
        return names(certificate).first ?? "serial number \(serialNumber)"
    }

    private static func time(_ seconds: time_t) -> String {
        Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
    }
}

extension StringProtocol {
    /// The first `limit` characters of the text, with `?` for each character that is not printable ASCII. Used for
    /// texts that a server sent, before they are put into messages.
    package func printableASCII(limit: Int = 200) -> String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.prefix(limit).map { (0x20...0x7E).contains($0.value) ? $0 : "?" }))
    }
}
