package import StrictJSON

/// Decrypted payment data as people may see it on a screen.
///
/// Names that are known to be harmless are shown; everything else is masked, so that a field Apple adds tomorrow is too.
package struct MaskedFields: Sendable {
    package struct Row: Hashable, Sendable {
        /// With its path: `paymentData.eciIndicator`.
        package let name: String
        package let value: String
    }

    /// In the order of the plaintext.
    package let rows: [Row]

    /// - Throws: ``CommandFailure`` for a plaintext that is no JSON. Quotes nothing of it.
    package init(plaintext: [UInt8]) throws(CommandFailure) {
        do {
            self.init(try JSONParser.parse(plaintext, limits: .request))
        } catch {
            throw CommandFailure(.refused, "the decrypted payment data can't be shown as a table (try --raw): \(error)")
        }
    }

    package init(_ value: JSONValue) { rows = Self.rows(value, path: "", name: "") }

    /// Apple, "Payment token format reference". By the field's own name, wherever it stands.
    private static let shown: Set<String> = [
        "applicationExpirationDate", "currencyCode", "transactionAmount", "deviceManufacturerIdentifier",
        "paymentDataType", "eciIndicator", "merchantIdentifier", "merchantTokenIdentifier",
        // Of the view of an authorization message.
        "network", "expirationDate", "electronicCommerceIndicator", "tokenRequestorID",
    ]

    private static let accountNumbers: Set<String> = ["applicationPrimaryAccountNumber", "primaryAccountNumber"]

    private static func rows(_ value: JSONValue, path: String, name: String) -> [Row] {
        switch value {
        case .object(let object):
            object.members.flatMap {
                rows($0.value, path: path.isEmpty ? $0.name : "\(path).\($0.name)", name: $0.name)
            }
        case .array(let items):
            items.enumerated().flatMap { rows($0.element, path: "\(path)[\($0.offset)]", name: name) }
        case .null, .bool: [Row(name: path, value: shown.contains(name) ? JSONText.compact(value) : "(masked)")]
        case .number(let text), .string(let text): [Row(name: path, value: masked(text, name))]
        }
    }

    private static func masked(_ text: String, _ name: String) -> String {
        if shown.contains(name) { return text }
        if accountNumbers.contains(name) { return accountNumber(text) }
        return "(masked, \(text.count) characters)"
    }

    /// The last four digits stay, as on a receipt; all of a number so short that four would tell it.
    private static func accountNumber(_ text: String) -> String {
        guard text.count >= 12 else { return String(repeating: "*", count: text.count) }
        return String(repeating: "*", count: text.count - 4) + text.suffix(4)
    }
}
