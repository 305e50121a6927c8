import Vocabulary
package import WireAPI

/// One merchant of an import's file.
package struct ImportRow: Hashable, Sendable {
    /// The fields by their names in the header; domains are separated by blanks or semicolons.
    package enum Column: String, Sendable, CaseIterable {
        case partnerInternalMerchantIdentifier, partnerMerchantName, domainNames, encryptTo, merchantUrl
        case merchantIdentifier

        var isRequired: Bool {
            [.partnerInternalMerchantIdentifier, .partnerMerchantName, .domainNames].contains(self)
        }
    }

    /// What a report has besides; passed over in a file, so that a report's lines can be imported again.
    package static let reportColumns = ["result", "code", "detail", "at"]

    package let line: Int
    /// In the order of ``Column``.
    package let values: [String]

    package subscript(column: Column) -> String { values[Column.allCases.firstIndex(of: column) ?? 0] }

    /// - Throws: ``CSVText/Fault`` for a header that lacks a column or has a strange one, or a line of another length.
    package static func rows(of records: [CSVText.Record]) throws(CSVText.Fault) -> [ImportRow] {
        guard let header = records.first else {
            throw CSVText.Fault(line: 1, finding: "found nothing, expected a header with \(names)")
        }
        var places: [Column: Int] = [:]
        for (place, name) in header.fields.enumerated() where !reportColumns.contains(name) {
            guard let column = Column(rawValue: name), places.updateValue(place, forKey: column) == nil else {
                throw CSVText.Fault(
                    line: header.line,
                    finding: "found the column '\(name.prefix(64))', expected each once of \(names)")
            }
        }
        for column in Column.allCases where column.isRequired && places[column] == nil {
            throw CSVText.Fault(line: header.line, finding: "found no column '\(column.rawValue)', expected \(names)")
        }
        return try records.dropFirst().map { record throws(CSVText.Fault) in
            guard record.fields.count == header.fields.count else {
                throw CSVText.Fault(
                    line: record.line,
                    finding: "found \(record.fields.count) fields, expected \(header.fields.count) as in the header")
            }
            return ImportRow(
                line: record.line,
                values: Column.allCases.map { column in places[column].map { record.fields[$0] } ?? "" })
        }
    }

    private static let names = Column.allCases.map { $0.isRequired ? $0.rawValue : "\($0.rawValue)?" }
        .joined(separator: ", ")

    /// What the daemon is asked.
    package var request: RegisterRequest {
        func value(_ column: Column) -> String? { self[column].isEmpty ? nil : self[column] }
        return RegisterRequest(
            partnerInternalMerchantIdentifier: self[.partnerInternalMerchantIdentifier],
            partnerMerchantName: value(.partnerMerchantName),
            domainNames: self[.domainNames].split { $0.isWhitespace || $0 == ";" }.map(String.init),
            encryptTo: value(.encryptTo), merchantUrl: value(.merchantUrl),
            merchantIdentifier: value(.merchantIdentifier))
    }
}
