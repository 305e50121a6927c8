package import FoundationEssentials
import Vocabulary
package import WireAPI

/// The merchants in a CSV file. The file has the column `merchantIdentifier`, and optionally `name` and
/// `targetActiveKeyPairs`.
package struct MerchantFile: Sendable {
    package struct Line: Sendable {
        package let line: Int
        package let request: AddMerchantRequest
    }

    /// The largest file, in bytes.
    package static let largest = 256 << 20
    /// How many errors of a file the message shows.
    static let shownErrors = 20

    package let lines: [Line]

    /// - Throws: ``CommandFailure`` if the file has errors, with one sentence for each of them. A file with one error
    ///   is refused as a whole.
    package init(_ bytes: Data, named path: String) throws(CommandFailure) {
        let table: CSVTable
        do throws(CSVReader.Fault) {
            table = try CSVTable(bytes, required: ["merchantIdentifier"], optional: ["name", "targetActiveKeyPairs"])
        } catch {
            throw CommandFailure(.refused, "nothing was imported: \(path), \(error)")
        }
        var lines: [Line] = []
        var errors: [String] = []
        var seen: [MerchantIdentifier: Int] = [:]
        for row in table.rows {
            guard let identifier = MerchantIdentifier(row["merchantIdentifier"] ?? "") else {
                let found = (row["merchantIdentifier"] ?? "").prefix(80)
                errors.append("line \(row.line): '\(found)' \(MerchantIdentifier.refusal(of: ""))")
                continue
            }
            if let first = seen.updateValue(row.line, forKey: identifier) {
                errors.append("line \(row.line): \(identifier) is listed twice, first in line \(first)")
            }
            let target = row["targetActiveKeyPairs"].map { Int($0) ?? 0 }
            if let target, !(1...16).contains(target) {
                let found = (row["targetActiveKeyPairs"] ?? "").prefix(40)
                errors.append("line \(row.line): targetActiveKeyPairs is '\(found)', expected 1 to 16")
            }
            if let name = row["name"] {
                do { _ = try DisplayText(name, longest: 1_024) } catch {
                    errors.append("line \(row.line): the name \(error)")
                }
            }
            var request = AddMerchantRequest(identifier)
            request.name = row["name"]
            request.targetActiveKeyPairs = target
            lines.append(Line(line: row.line, request: request))
        }
        guard errors.isEmpty else {
            let more = errors.count - Self.shownErrors
            throw CommandFailure(
                .refused,
                (["nothing was imported: \(path) has \(errors.count) errors"] + errors.prefix(Self.shownErrors)
                    + (more > 0 ? ["and \(more) more"] : [])).joined(separator: "\n"))
        }
        guard !lines.isEmpty else {
            throw CommandFailure(.refused, "\(path) contains only a heading, expected merchants")
        }
        self.lines = lines
    }
}

extension MerchantFile.Line: BulkItem {
    var name: String { request.merchantIdentifier.rawValue }
    var content: String { "\(request.targetActiveKeyPairs.map(String.init) ?? "") \(request.name ?? "")" }
    var place: String? { "line \(line)" }
}
