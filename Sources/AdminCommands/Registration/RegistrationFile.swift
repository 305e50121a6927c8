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

    /// - Throws: ``CommandFailure`` if the file has at least one error. The message names the lines of the first errors
    ///   (``CommandFailure/shownFileErrors``).
    package init(_ bytes: Data, named path: String) throws(CommandFailure) {
        let table: CSVTable
        do throws(CSVReader.Fault) {
            table = try CSVTable(bytes, required: Self.requiredColumns, optional: Self.optionalColumns)
        } catch {
            throw CommandFailure(.failed, "\(Self.nothingDone): \(path), \(error)")
        }
        var errors: [String] = []
        lines = table.rows.compactMap { Self.line($0, &errors) }
        guard errors.isEmpty else { throw .fileErrors(errors, in: path, Self.nothingDone) }
        guard !lines.isEmpty else {
            throw CommandFailure(.failed, "\(Self.nothingDone): \(path) contains no line after the header line")
        }
    }

    /// The beginning of each error message about the file.
    static let nothingDone = "nothing was registered"

    /// Reads one line, and performs those checks of the daemon that need only the line, so that no line of the file is
    /// registered if the daemon would refuse one of them for its form.
    ///
    /// - Parameter errors: the line's errors are added.
    /// - Returns: nil if the `partnerInternalMerchantIdentifier` is invalid.
    private static func line(_ row: CSVTable.Row, _ errors: inout [String]) -> Line? {
        func refuse(_ column: String, _ why: String) { errors.append("line \(row.lineNumber): '\(column)' \(why)") }
        func value<Value: TextValue>(_ text: String, in column: String) -> Value? {
            let value = Value(text: text)
            if value == nil { refuse(column, Value.refusal(of: text)) }
            return value
        }
        let names = (row["domainNames"] ?? "").split { $0.isWhitespace || $0 == ";" }
        let domainNames: [DomainName] = names.compactMap { value(String($0), in: "domainNames") }
        if domainNames.count == names.count, let refusal = RegistrationLimits.refusal(of: domainNames) {
            refuse("domainNames", refusal)
        }
        if let name = row["partnerMerchantName"] {
            do throws(DisplayText.Fault) { _ = try DisplayText(name, longest: RegistrationLimits.nameBytes) } catch {
                refuse("partnerMerchantName", "\(error)")
            }
        }
        if let refusal = row["merchantUrl"].flatMap(RegistrationLimits.refusal(ofMerchantURL:)) {
            refuse("merchantUrl", refusal)
        }
        let encryptTo: MerchantIdentifier? = row["encryptTo"].flatMap { value($0, in: "encryptTo") }
        let merchant: MerchantIdentifier? = row["merchantIdentifier"].flatMap { value($0, in: "merchantIdentifier") }
        let column = "partnerInternalMerchantIdentifier"
        guard let partner: PartnerInternalMerchantIdentifier = value(row[column] ?? "", in: column) else { return nil }
        var request = RegisterRequest(partner, domainNames: domainNames)
        request.partnerMerchantName = row["partnerMerchantName"]
        request.encryptTo = encryptTo
        request.merchantUrl = row["merchantUrl"]
        request.merchantIdentifier = merchant
        return Line(lineNumber: row.lineNumber, request: request)
    }
}

extension RegistrationFile.Line: BulkItem {
    var name: String { request.partnerInternalMerchantIdentifier.rawValue }
    /// All fields except `partnerInternalMerchantIdentifier`, so that a later run handles a changed line as a new item.
    var content: String {
        [
            request.partnerMerchantName, request.domainNames.map(\.rawValue).joined(separator: " "),
            request.encryptTo?.rawValue, request.merchantUrl, request.merchantIdentifier?.rawValue,
        ].map { $0 ?? "" }.joined(separator: "|")
    }
    var place: String? { "line \(lineNumber)" }
}
