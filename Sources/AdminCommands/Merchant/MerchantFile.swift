package import FoundationEssentials
package import Vocabulary

/// The merchants of a CSV file: the columns `merchantIdentifier`, and where they are there `name` and
/// `targetActiveKeyPairs`.
package struct MerchantFile: Sendable {
    package struct Line: Hashable, Sendable {
        package let identifier: MerchantIdentifier
        package let merchantName: String?
        package let target: Int?
        package let line: Int
    }

    /// What is read of a file, in bytes.
    package static let largest = 256 << 20
    /// How many of a file's faults are told.
    static let shownFaults = 20

    package let lines: [Line]

    /// - Throws: ``CommandFailure`` with a sentence for each fault; then nothing of the file is to be done.
    package init(_ bytes: Data, named path: String) throws(CommandFailure) {
        let table: CSVTable
        do throws(CSVReader.Fault) {
            table = try CSVTable(bytes, required: ["merchantIdentifier"], optional: ["name", "targetActiveKeyPairs"])
        } catch {
            throw CommandFailure(.refused, "nothing was done: \(path), \(error)")
        }
        var lines: [Line] = []
        var faults: [String] = []
        var seen: [MerchantIdentifier: Int] = [:]
        for row in table.rows {
            guard let identifier = MerchantIdentifier(row["merchantIdentifier"] ?? "") else {
                let found = (row["merchantIdentifier"] ?? "").prefix(80)
                faults.append(
                    "line \(row.line): '\(found)' is no merchant identifier, \(MerchantIdentifier.expectation)")
                continue
            }
            if let first = seen.updateValue(row.line, forKey: identifier) {
                faults.append("line \(row.line): \(identifier) is there twice, first in line \(first)")
            }
            let target = row["targetActiveKeyPairs"].map { Int($0) ?? 0 }
            if let target, !(1...16).contains(target) {
                let found = (row["targetActiveKeyPairs"] ?? "").prefix(40)
                faults.append("line \(row.line): targetActiveKeyPairs is '\(found)', expected 1 to 16")
            }
            if let name = row["name"] {
                do { _ = try DisplayText(name, longest: 1_024) } catch {
                    faults.append("line \(row.line): the name \(error)")
                }
            }
            lines.append(Line(identifier: identifier, merchantName: row["name"], target: target, line: row.line))
        }
        guard faults.isEmpty else {
            let more = faults.count - Self.shownFaults
            throw CommandFailure(
                .refused,
                (["nothing was done: \(path) has \(faults.count) faults"] + faults.prefix(Self.shownFaults)
                    + (more > 0 ? ["and \(more) more"] : [])).joined(separator: "\n"))
        }
        guard !lines.isEmpty else { throw CommandFailure(.refused, "\(path) holds no merchant, only a heading") }
        self.lines = lines
    }
}

extension MerchantFile.Line: BulkItem {
    var name: String { identifier.rawValue }
    var content: String { "\(target.map(String.init) ?? "") \(merchantName ?? "")" }
    var place: String? { "line \(line)" }
}
