package import FoundationEssentials
import Vocabulary
package import WireAPI

/// The merchants in a CSV file. The file has the column `merchantIdentifier`, and optionally `name` and
/// `targetActiveKeyPairs`.
package struct MerchantFile: Sendable {
    package struct Line: Sendable {
        package let lineNumber: Int
        package let request: AddMerchantRequest
    }

    /// The largest file, in bytes.
    package static let sizeLimit = 256 << 20

    package let lines: [Line]

    /// - Throws: ``CommandFailure`` if the file has an error. The message names the lines of the first errors
    ///   (``CommandFailure/shownFileErrors``).
    package init(_ bytes: Data, named path: String) throws(CommandFailure) {
        let table: CSVTable
        do throws(CSVReader.Fault) {
            table = try CSVTable(bytes, required: ["merchantIdentifier"], optional: ["name", "targetActiveKeyPairs"])
        } catch {
            throw CommandFailure(.failed, "nothing was imported: \(path), \(error)")
        }
        var lines: [Line] = []
        var errors: [String] = []
        var linesByMerchant: [MerchantIdentifier: Int] = [:]
        for row in table.rows {
            let text = row["merchantIdentifier"] ?? ""
            guard let identifier = MerchantIdentifier(text) else {
                errors.append("line \(row.lineNumber): '\(text.prefix(80))' \(MerchantIdentifier.refusal(of: text))")
                continue
            }
            if let earlierLine = linesByMerchant.updateValue(row.lineNumber, forKey: identifier) {
                errors.append(
                    "line \(row.lineNumber): \(identifier) is listed twice; line \(earlierLine) also has this merchant")
            }
            // Text that is not a number becomes -1, which the check below refuses.
            let target = row["targetActiveKeyPairs"].map { Int($0) ?? -1 }
            if let target, !(0...16).contains(target) {
                let found = (row["targetActiveKeyPairs"] ?? "").prefix(40)
                errors.append("line \(row.lineNumber): targetActiveKeyPairs is '\(found)', expected 0 to 16")
            }
            if let name = row["name"] {
                do { _ = try DisplayText(name, longest: 1_024) } catch {
                    errors.append("line \(row.lineNumber): the name \(error)")
                }
            }
            var request = AddMerchantRequest(identifier)
            request.name = row["name"]
            request.targetActiveKeyPairs = target
            lines.append(Line(lineNumber: row.lineNumber, request: request))
        }
        guard errors.isEmpty else { throw .fileErrors(errors, in: path, "nothing was imported") }
        guard !lines.isEmpty else {
            throw CommandFailure(.failed, "nothing was imported: \(path) contains no line after the header line")
        }
        self.lines = lines
    }
}

extension MerchantFile.Line: BulkItem {
    var name: String { request.merchantIdentifier.rawValue }
    var content: String { "\(request.targetActiveKeyPairs.map(String.init) ?? "") \(request.name ?? "")" }
    var place: String? { "line \(lineNumber)" }
}
