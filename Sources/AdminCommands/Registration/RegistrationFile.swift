package import FoundationEssentials
import Vocabulary
package import WireAPI

/// The registrations in a CSV file. Each row is one merchant; blanks or semicolons separate the merchant's domains.
package struct RegistrationFile: Sendable {
    package struct Line: Sendable {
        package let line: Int
        package let request: RegisterRequest
    }

    /// The largest file, in bytes.
    package static let largest = 64 << 20
    private static let required = ["partnerInternalMerchantIdentifier", "partnerMerchantName", "domainNames"]
    private static let optional = ["encryptTo", "merchantUrl", "merchantIdentifier"]

    package let lines: [Line]

    /// - Throws: ``CommandFailure`` if the file has an error. A file with one error is refused as a whole.
    package init(_ bytes: Data, named path: String) throws(CommandFailure) {
        do throws(CSVReader.Fault) {
            lines = try CSVTable(bytes, required: Self.required, optional: Self.optional).rows.map(Self.line)
        } catch {
            throw CommandFailure(.refused, "nothing was registered: \(path), \(error)")
        }
        guard !lines.isEmpty else {
            throw CommandFailure(.refused, "\(path) contains only a heading, expected merchants")
        }
    }

    private static func line(_ row: CSVTable.Row) throws(CSVReader.Fault) -> Line {
        let names = (row["domainNames"] ?? "").split { $0.isWhitespace || $0 == ";" }
        var request = RegisterRequest(
            try value(row["partnerInternalMerchantIdentifier"] ?? "", "partnerInternalMerchantIdentifier", row.line),
            domainNames: try names.map { name throws(CSVReader.Fault) in
                try value(String(name), "domainNames", row.line)
            })
        request.partnerMerchantName = row["partnerMerchantName"]
        request.encryptTo = try optionalValue("encryptTo", row)
        request.merchantUrl = row["merchantUrl"]
        request.merchantIdentifier = try optionalValue("merchantIdentifier", row)
        return Line(line: row.line, request: request)
    }

    private static func value<Value: TextValue>(
        _ text: String, _ column: String, _ line: Int
    ) throws(CSVReader.Fault) -> Value {
        guard let value = Value(text: text) else {
            throw CSVReader.Fault(description: "line \(line): '\(column)' \(Value.refusal(of: text))")
        }
        return value
    }

    private static func optionalValue<Value: TextValue>(
        _ column: String, _ row: CSVTable.Row
    ) throws(CSVReader.Fault) -> Value? {
        guard let text = row[column] else { return nil }
        return try value(text, column, row.line)
    }
}

extension RegistrationFile.Line: BulkItem {
    var name: String { request.partnerInternalMerchantIdentifier.rawValue }
    var content: String {
        [
            request.partnerMerchantName, request.domainNames.map(\.rawValue).joined(separator: " "),
            request.encryptTo?.rawValue, request.merchantUrl, request.merchantIdentifier?.rawValue,
        ].map { $0 ?? "" }.joined(separator: "|")
    }
    var place: String? { "line \(line)" }
}
