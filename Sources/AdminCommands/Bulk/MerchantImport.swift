import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct MerchantImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Add many merchants from a CSV file.",
        discussion: """
            The first line names the columns: merchantIdentifier, and if wanted name and targetActiveKeyPairs. Fields may \
            be quoted as in RFC 4180. Repeating it changes nothing. Files are read up to 1 MiB.
            """)

    @Argument(help: "The CSV file, or '-'.")
    var file: String

    @Flag(help: "Make key pairs and CSRs too, as many as each target says; get them with key csr --all-pending.")
    var generateKeyPairs = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        guard let text = String(validating: try InputFile(file).read(), as: UTF8.self) else {
            throw CommandFailure(.refused, "\(file) is not UTF-8, expected CSV in UTF-8")
        }
        let rows = try CSVTable(text, columns: ["merchantIdentifier", "name", "targetActiveKeyPairs"]).rows
        try await global.withAdmin { admin in
            try await BulkRun(global: global).run(rows, named: { $0["merchantIdentifier"] ?? "" }) { row in
                let target = try row["targetActiveKeyPairs"].map { text throws(CommandFailure) in
                    guard let number = Int(text) else {
                        throw CommandFailure(.refused, "targetActiveKeyPairs is '\(text)', expected a number")
                    }
                    return number
                }
                let added = try await admin.addMerchant(
                    AddMerchantRequest(
                        merchantIdentifier: row["merchantIdentifier"] ?? "", name: row["name"],
                        targetActiveKeyPairs: target, generateKeyPairs: generateKeyPairs ? true : nil))
                return (.done, "added \(added.document.createdAt)")
            }
        }
    }
}
