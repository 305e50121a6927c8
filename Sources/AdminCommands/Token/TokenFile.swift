import FoundationEssentials
package import PaymentToken
package import StrictJSON

/// A payment token in a file. The file contains one of three JSON objects: the payment object of Apple Pay on the Web
/// (`{"token": {"paymentData": …}}`), the token (`{"paymentData": …}`), or the token's `paymentData` alone.
package struct TokenFile: Sendable {
    package let paymentData: JSONObject
    /// The whole JSON object in the file.
    private let fileObject: JSONObject

    /// - Throws: ``CommandFailure`` if the file is not JSON, or is none of the three objects.
    package init(_ bytes: some Collection<UInt8>) throws(CommandFailure) {
        let value: JSONValue
        do {
            value = try JSONParser.parse(bytes, limits: .tokenFile)
        } catch {
            throw CommandFailure(.failed, "the payment token can't be parsed: \(error)")
        }
        guard case .object(let object) = value else {
            throw CommandFailure(.failed, "the payment token is \(value.kind), expected an object")
        }
        fileObject = object
        paymentData = try Self.paymentData(in: object)
    }

    static func read(_ path: String) throws(CommandFailure) -> TokenFile { try TokenFile(try InputFile(path).read()) }

    /// The `paymentData` as JSON text for a request, with its members and values in the order of the file.
    package var json: [UInt8] { Array(JSONText.compact(.object(paymentData)).utf8) }

    /// Parses the whole token.
    ///
    /// - Throws: ``CommandFailure`` that names the missing or invalid part of the token.
    package func token() throws(CommandFailure) -> ApplePayToken {
        do {
            return try ApplePayToken(JSONFields(fileObject))
        } catch {
            throw CommandFailure(.failed, "the payment token can't be parsed: \(error.detail)")
        }
    }

    private static func paymentData(in object: JSONObject) throws(CommandFailure) -> JSONObject {
        if case .object(let token) = object["token"] { return try paymentData(in: token) }
        if let inner = object["paymentData"] {
            guard case .object(let paymentData) = inner else {
                throw CommandFailure(.failed, "'paymentData' is \(inner.kind), expected an object")
            }
            return paymentData
        }
        guard object["header"] != nil, object["data"] != nil else {
            throw CommandFailure(
                .failed, "the file is not a payment token: it has neither 'paymentData' nor 'header' and 'data'")
        }
        return object
    }
}

extension JSONLimits {
    /// Larger than the limits for `paymentData`, because a file may also contain the names and pictures of cards.
    static let tokenFile = JSONLimits(bytes: InputFile.defaultSizeLimit, depth: 32, values: 65_536)
}
