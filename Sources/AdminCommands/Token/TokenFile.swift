import FoundationEssentials
package import PaymentToken
package import StrictJSON

/// A payment token in a file. The file contains the payment object of Apple Pay on the Web, the token, or the token's
/// `paymentData`.
package struct TokenFile: Sendable {
    package let paymentData: JSONObject
    private let whole: JSONObject

    /// - Throws: ``CommandFailure`` if the file is not JSON or has no `paymentData`.
    package init(_ bytes: some Collection<UInt8>) throws(CommandFailure) {
        let value: JSONValue
        do {
            value = try JSONParser.parse(bytes, limits: .tokenFile)
        } catch {
            throw CommandFailure(.refused, "the payment token can't be parsed: \(error)")
        }
        guard case .object(let outermost) = value else {
            throw CommandFailure(.refused, "the payment token is \(value.kind), expected an object")
        }
        whole = outermost
        paymentData = try Self.paymentData(in: outermost)
    }

    static func read(_ path: String) throws(CommandFailure) -> TokenFile { try TokenFile(try InputFile(path).read()) }

    /// The `paymentData` as JSON text for a request. The order of its members and their values are unchanged.
    package var json: [UInt8] { Array(JSONText.compact(.object(paymentData)).utf8) }

    /// - Throws: ``CommandFailure`` with the part of the token that is missing or invalid.
    package func token() throws(CommandFailure) -> ApplePayToken {
        do {
            return try ApplePayToken(JSONFields(whole))
        } catch {
            throw CommandFailure(.refused, "the payment token can't be parsed: \(error.detail)")
        }
    }

    /// Finds `paymentData` in the payment object of Apple Pay on the Web, `{"token": {"paymentData": …}}`, or in a
    /// token, `{"paymentData": …}`. Otherwise the object itself is `paymentData`.
    private static func paymentData(in object: JSONObject) throws(CommandFailure) -> JSONObject {
        if case .object(let token) = object["token"] { return try paymentData(in: token) }
        if let inner = object["paymentData"] {
            guard case .object(let paymentData) = inner else {
                throw CommandFailure(.refused, "'paymentData' is \(inner.kind), expected an object")
            }
            return paymentData
        }
        guard object["header"] != nil, object["data"] != nil else {
            throw CommandFailure(
                .refused, "the JSON has neither 'paymentData' nor its 'header' and 'data', expected a payment token")
        }
        return object
    }
}

extension JSONLimits {
    /// Larger than the limits for `paymentData`, because a file may also contain the names and pictures of cards.
    static let tokenFile = JSONLimits(bytes: InputFile.largest, depth: 32, values: 65_536)
}
