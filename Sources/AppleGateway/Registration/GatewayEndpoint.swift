import Foundation
package import Vocabulary

/// Where Apple's Web Merchant Registration API is.
///
/// Source: Apple, Web Merchant Registration API, "Register merchant", "Unregister merchant", "Get merchant".
package struct GatewayEndpoint: Hashable, Sendable {
    /// What an operator sees: scheme, host and port.
    package let url: String

    /// Apple's own host for the environment.
    package init(_ environment: Environment) {
        url =
            switch environment {
            case .production: "https://apple-pay-gateway.apple.com"
            case .sandbox: "https://apple-pay-gateway-cert.apple.com"
            }
    }

    /// - Parameter text: `https://HOST[:PORT]`, with or without a path in front of Apple's.
    /// - Throws: ``TransportSetupError`` for anything else.
    package init(_ text: String) throws(TransportSetupError) {
        guard let parts = URLComponents(string: text), parts.scheme?.lowercased() == "https",
            let host = parts.host, !host.isEmpty, parts.user == nil, parts.password == nil, parts.query == nil,
            parts.fragment == nil, parts.url != nil
        else {
            throw TransportSetupError(
                "found '\(printable(text))', expected https://HOST[:PORT] without user, query and fragment")
        }
        url = text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    var register: URL? { URL(string: "\(url)/paymentservices/registerMerchant") }
    var unregister: URL? { URL(string: "\(url)/paymentservices/unregisterMerchant") }

    func details(of partner: PartnerInternalMerchantIdentifier) -> URL? {
        URL(string: "\(url)/paymentservices/merchant/\(Self.percentEncoded(partner.rawValue))")
    }

    /// All but RFC 3986's unreserved characters: a server that decodes once has the identifier back, whatever it thinks of
    /// `+`, `;`, `&` and the rest of the alphabet.
    static func percentEncoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += "%\(Hex.encode([byte]).uppercased())"
            }
        }
        return encoded
    }
}
