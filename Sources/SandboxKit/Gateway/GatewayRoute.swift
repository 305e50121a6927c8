import NIOHTTP1
import Vocabulary

/// The operations of Apple's gateway. The raw values are the names in faults and statistics.
package enum GatewayOperation: String, CaseIterable, Sendable {
    // Web Merchant Registration API
    case registerMerchant, unregisterMerchant, getDetails
    // Apple Pay on the Web
    case paymentSession
    // Merchant Token Management API
    case merchantTokenEvent, unlink, updateMerchantMetadata, publicKey, notify
}

/// The operation that a request asks for, and the parameters in its path.
struct GatewayRoute {
    let operation: GatewayOperation
    /// The parameters, percent-decoded, in the order of the path. A parameter that is not valid percent-encoded UTF-8
    /// becomes an empty text.
    let parameters: [String]

    /// - Parameter uri: the path as sent, percent-encoded.
    /// - Returns: nil for an unknown method or path.
    init?(_ method: HTTPMethod, _ uri: String) {
        let parts = uri.split(separator: "/", omittingEmptySubsequences: false)[...]
        guard parts.first == "", let service = parts.dropFirst().first else { return nil }
        let path = parts.dropFirst(2)
        // Apple's reference writes `paymentservices`. Apple's guide to merchant tokens writes `paymentServices`.
        guard service == "paymentservices" || (service == "paymentServices" && path.first == "v1") else { return nil }
        guard let (operation, parameters) = Self.operation(method, Array(path)) else { return nil }
        self.operation = operation
        self.parameters = parameters.map { Self.percentDecoded($0) ?? "" }
    }

    private static func operation(
        _ method: HTTPMethod, _ path: [Substring]
    ) -> (GatewayOperation, parameters: [Substring])? {
        switch (method, path.count) {
        case (.POST, 1) where path[0] == "registerMerchant": return (.registerMerchant, [])
        case (.POST, 1) where path[0] == "unregisterMerchant": return (.unregisterMerchant, [])
        case (.POST, 1) where path[0] == "paymentSession": return (.paymentSession, [])
        case (.GET, 2) where path[0] == "merchant" && !path[1].isEmpty: return (.getDetails, [path[1]])
        default:
            // v1/merchantId/{merchantId}/merchantToken/…
            guard path.count >= 5, path[0] == "v1", path[1] == "merchantId", path[3] == "merchantToken" else {
                return nil
            }
            return merchantTokenOperation(method, merchant: path[2], Array(path[4...]))
        }
    }

    private static func merchantTokenOperation(
        _ method: HTTPMethod, merchant: Substring, _ path: [Substring]
    ) -> (GatewayOperation, parameters: [Substring])? {
        // Apple's reference fetches an event with GET, and Apple's guide with POST.
        if path.count == 2, path[0] == "event", method == .GET || method == .POST {
            return (.merchantTokenEvent, [merchant, path[1]])
        }
        guard path.count == 1, method == .POST else { return nil }
        switch path[0] {
        case "unlink": return (.unlink, [merchant])
        case "updateMerchantMetadata": return (.updateMerchantMetadata, [merchant])
        case "publicKey": return (.publicKey, [merchant])
        case "notify": return (.notify, [merchant])
        default: return nil
        }
    }

    /// Decodes a percent-encoded text.
    ///
    /// - Returns: nil if the text is not valid percent-encoded UTF-8.
    private static func percentDecoded(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let decoded = Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self)), decoded.count == 1
                else { return nil }
                bytes += decoded
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
