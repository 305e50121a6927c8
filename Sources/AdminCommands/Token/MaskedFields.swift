package import StrictJSON
import Vocabulary

/// Decrypted payment data, masked for display.
///
/// Only the values of fields that are known to contain no secret are shown. All other values are masked, including
/// the values of fields that Apple adds later.
package struct MaskedFields: Sendable {
    package struct Row: Hashable, Sendable {
        /// The field's name with its path, such as `paymentData.eciIndicator`.
        package let name: String
        package let value: String
    }

    /// The fields in the order of the plaintext.
    package let rows: [Row]

    /// - Throws: ``CommandFailure`` if the plaintext is not JSON within the limits of a request. The message does not
    ///   quote the plaintext.
    package init(plaintext: [UInt8]) throws(CommandFailure) {
        do {
            self.init(try JSONParser.parse(plaintext, limits: .request))
        } catch {
            throw CommandFailure(.failed, "the decrypted payment data can't be shown as a table: \(error); use --raw")
        }
    }

    package init(_ value: JSONValue) { rows = Self.rows(value, path: "", name: "") }

    /// The names of the fields that are shown, at any depth. Source: Apple, "Payment token format reference".
    private static let shownNames: Set<String> = [
        "applicationExpirationDate", "currencyCode", "transactionAmount", "deviceManufacturerIdentifier",
        "paymentDataType", "eciIndicator", "merchantIdentifier", "merchantTokenIdentifier",
        // Fields of the view `authorization`.
        "network", "expirationDate", "electronicCommerceIndicator", "tokenRequestorID",
    ]

    private static let accountNumberNames: Set<String> = ["applicationPrimaryAccountNumber", "primaryAccountNumber"]

    private static func rows(_ value: JSONValue, path: String, name: String) -> [Row] {
        switch value {
        case .object(let object):
            object.members.flatMap {
                rows($0.value, path: path.isEmpty ? $0.name : "\(path).\($0.name)", name: $0.name)
            }
        case .array(let items):
            items.enumerated().flatMap { rows($0.element, path: "\(path)[\($0.offset)]", name: name) }
        case .null, .bool: [Row(name: path, value: shownNames.contains(name) ? JSONText.compact(value) : "(masked)")]
        case .number(let text), .string(let text): [Row(name: path, value: masked(text, name))]
        }
    }

    private static func masked(_ text: String, _ name: String) -> String {
        if shownNames.contains(name) { return text }
        if accountNumberNames.contains(name) { return maskedAccountNumber(text) }
        return "(masked, \(text.count.counted("character")))"
    }

    /// Shows the last four digits, as on a receipt. In a number of fewer than 12 digits, four digits would reveal too
    /// much, so that number is masked completely.
    private static func maskedAccountNumber(_ text: String) -> String {
        guard text.count >= 12 else { return String(repeating: "*", count: text.count) }
        return String(repeating: "*", count: text.count - 4) + text.suffix(4)
    }
}
