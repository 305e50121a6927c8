import FoundationEssentials
package import PaymentToken
package import StrictJSON

/// A payment token in a file: the whole token, or its `paymentData`.
package struct TokenFile: Sendable {
    package let paymentData: JSONObject
    private let whole: JSONObject

    /// - Throws: ``CommandFailure`` for invalid JSON, or a token without `paymentData`.
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

    /// The JSON text to send: members in their order, values unchanged.
    package var json: [UInt8] { Array(JSONText.compact(.object(paymentData)).utf8) }

    /// - Throws: ``CommandFailure``, naming the part that is missing or invalid.
    package func token() throws(CommandFailure) -> ApplePayToken {
        do {
            return try ApplePayToken(JSONFields(whole))
        } catch {
            throw CommandFailure(.refused, "the payment token can't be parsed: \(error.detail)")
        }
    }

    /// `{"token": {"paymentData": …}}` is Apple Pay on the Web's payment, `{"paymentData": …}` its token.
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
    /// A whole token also contains names and pictures of cards.
    static let tokenFile = JSONLimits(bytes: InputFile.largest, depth: 32, values: 65_536)
}
