import Foundation
import MerchantCore
import OutboundHTTP
package import Vocabulary

/// The base URL of Apple's gateway, and the URLs of its operations.
///
/// Source: Apple, Web Merchant Registration API, "Register merchant", "Unregister merchant", "Get merchant"; Apple Pay
/// on the Web, "Requesting an Apple Pay Payment Session"; Apple Pay Merchant Token Management API.
package struct GatewayEndpoint: Hashable, Sendable {
    /// Scheme, host and port, and the path of the setting `apple.gateway.url` if it has one. There is no `/` at the
    /// end.
    package let url: String

    /// Apple's own host for the environment.
    package init(_ environment: Environment) {
        url =
            switch environment {
            case .production: "https://apple-pay-gateway.apple.com"
            case .sandbox: "https://apple-pay-gateway-cert.apple.com"
            }
    }

    /// - Parameter text: `https://HOST[:PORT]`, with or without a path. Apple's paths are appended to it.
    /// - Throws: ``GatewayEndpointError`` if `text` has another form.
    package init(_ text: String) throws(GatewayEndpointError) {
        guard let parts = URLComponents(string: text), parts.scheme?.lowercased() == "https",
            let host = parts.host, !host.isEmpty, parts.user == nil, parts.password == nil, parts.query == nil,
            parts.fragment == nil, parts.url != nil
        else {
            throw GatewayEndpointError(
                description:
                    "found '\(text.printableASCII())', expected https://HOST[:PORT] without user, query and fragment")
        }
        url = text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    var register: URL? { URL(string: "\(url)/paymentservices/registerMerchant") }
    var unregister: URL? { URL(string: "\(url)/paymentservices/unregisterMerchant") }

    /// The URL of Apple's record of a registered merchant.
    func details(of merchant: PartnerInternalMerchantIdentifier) -> URL? {
        URL(string: "\(url)/paymentservices/merchant/\(Self.percentEncoded(merchant.rawValue))")
    }

    /// - Parameter host: nil for the gateway itself.
    func paymentSession(at host: SessionHost?) -> URL? {
        URL(string: "\(host.map { "https://\($0.authority)" } ?? url)/paymentservices/paymentSession")
    }

    /// - Parameter operation: the path after `merchantToken`, such as `unlink`.
    func merchantToken(_ operation: String, of merchant: MerchantIdentifier) -> URL? {
        let path = "/paymentservices/v1/merchantId/\(Self.percentEncoded(merchant.rawValue))/merchantToken/\(operation)"
        return URL(string: url + path)
    }

    /// Encodes every character that is not unreserved in RFC 3986. Servers differ in how they read an unencoded `+`,
    /// `;` or `&`, and an identifier may contain these.
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

/// The error for an invalid URL in the setting `apple.gateway.url`.
package struct GatewayEndpointError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
}
