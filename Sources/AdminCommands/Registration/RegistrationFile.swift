package import FoundationEssentials
import Vocabulary
package import WireAPI

/// The registrations in a CSV file. Each row is one merchant; blanks or semicolons separate the merchant's domains.
package struct RegistrationFile: Sendable {
    package struct Line: Sendable {
        package let lineNumber: Int
        package let request: RegisterRequest
    }

    /// The largest file, in bytes.
    package static let sizeLimit = 64 << 20
    private static let requiredColumns = ["partnerInternalMerchantIdentifier", "partnerMerchantName", "domainNames"]
    private static let optionalColumns = ["encryptTo", "merchantUrl", "merchantIdentifier"]

    package let lines: [Line]

    /// - Throws: ``CommandFailure`` if the file has an error. A file with one error is refused as a whole.
    package init(_ bytes: Data, named path: String) throws(CommandFailure) {
        do throws(CSVReader.Fault) {
            lines = try CSVTable(bytes, required: Self.requiredColumns, optional: Self.optionalColumns).rows
                .map(Self.line)
        } catch {
            throw CommandFailure(.refused, "nothing was registered: \(path), \(error)")
        }
        guard !lines.isEmpty else {
            throw CommandFailure(.refused, "nothing was registered: \(path) contains no line after the header line")
        }
    }

    private static func line(_ row: CSVTable.Row) throws(CSVReader.Fault) -> Line {
        let names = (row["domainNames"] ?? "").split { $0.isWhitespace || $0 == ";" }
        var request = RegisterRequest(
            try value(
                row["partnerInternalMerchantIdentifier"] ?? "", "partnerInternalMerchantIdentifier", row.lineNumber),
            domainNames: try names.map { name throws(CSVReader.Fault) in
                try value(String(name), "domainNames", row.lineNumber)
            })
        request.partnerMerchantName = row["partnerMerchantName"]
        request.encryptTo = try optionalValue("encryptTo", row)
        request.merchantUrl = row["merchantUrl"]
        request.merchantIdentifier = try optionalValue("merchantIdentifier", row)
        return Line(lineNumber: row.lineNumber, request: request)
    }

    private static func value<Value: TextValue>(
        _ text: String, _ column: String, _ lineNumber: Int
    ) throws(CSVReader.Fault) -> Value {
        guard let value = Value(text: text) else {
            throw CSVReader.Fault(description: "line \(lineNumber): '\(column)' \(Value.refusal(of: text))")
        }
        return value
    }

    private static func optionalValue<Value: TextValue>(
        _ column: String, _ row: CSVTable.Row
    ) throws(CSVReader.Fault) -> Value? {
        guard let text = row[column] else { return nil }
        return try value(text, column, row.lineNumber)
    }
}

extension RegistrationFile.Line: BulkItem {
    var name: String { request.partnerInternalMerchantIdentifier.rawValue }
    /// All fields except the name, so that a later run handles a changed line as a new item.
    var content: String {
        [
            request.partnerMerchantName, request.domainNames.map(\.rawValue).joined(separator: " "),
            request.encryptTo?.rawValue, request.merchantUrl, request.merchantIdentifier?.rawValue,
        ].map { $0 ?? "" }.joined(separator: "|")
    }
    var place: String? { "line \(lineNumber)" }
}
