import FoundationEssentials
import Vocabulary

/// `--merchants-file`: a CSV file that names the merchant of each key file.
struct MerchantsOfFiles {
    private let merchants: [String: MerchantIdentifier]

    /// - Parameter names: the key files. Each name in the CSV file must be one of these.
    /// - Throws: ``CommandFailure`` that names the lines of the first errors (``CommandFailure/shownFileErrors``).
    init(_ path: String, names: [String]) throws(CommandFailure) {
        let table: CSVTable
        let bytes = try InputFile(path).read(sizeLimit: MerchantFile.sizeLimit)
        do throws(CSVReader.Fault) {
            table = try CSVTable(bytes, required: ["file", "merchantIdentifier"], optional: [])
        } catch {
            throw CommandFailure(.failed, "nothing was imported: \(path), \(error)")
        }
        let known = Set(names)
        var merchants: [String: MerchantIdentifier] = [:]
        var errors: [String] = []
        for row in table.rows {
            let (name, text) = (row["file"] ?? "", row["merchantIdentifier"] ?? "")
            guard let merchant = MerchantIdentifier(text) else {
                errors.append("line \(row.lineNumber): '\(text.prefix(80))' \(MerchantIdentifier.refusal(of: text))")
                continue
            }
            if !known.contains(name) {
                errors.append("line \(row.lineNumber): there is no private key file '\(name.prefix(80))'")
            }
            if merchants.updateValue(merchant, forKey: name) != nil {
                errors.append("line \(row.lineNumber): the file '\(name.prefix(80))' is listed twice")
            }
        }
        guard errors.isEmpty else { throw .fileErrors(errors, in: path, "nothing was imported") }
        self.merchants = merchants
    }

    /// The merchant that the CSV file names for an item; nil if it does not list the item's file.
    subscript(item: String) -> MerchantIdentifier? {
        // The item of a keystore entry has a name such as `store.jks#alias`.
        merchants[item] ?? item.firstIndex(of: "#").flatMap { merchants[String(item[..<$0])] }
    }
}
