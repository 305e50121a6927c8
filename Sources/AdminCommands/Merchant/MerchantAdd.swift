import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct MerchantAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a merchant.", discussion: "Repeating it changes nothing.")

    @Argument(help: "merchant.… or platformintegrator.….", transform: MerchantArgument.parse)
    var id: MerchantIdentifier

    @Option(help: "What people call it.")
    var name: String?

    @Option(help: ArgumentHelp("How many active key pairs it is meant to have; 2 unless said.", valueName: "n"))
    var target: Int?

    @Option(
        help: ArgumentHelp(
            "Make key pairs until there are as many as the target says, and write the CSRs still to be signed there.",
            valueName: "directory"))
    var csrDirectory: String?

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdmin { admin in
            let answer = try await admin.addMerchant(
                AddMerchantRequest(
                    merchantIdentifier: id.rawValue, name: name, targetActiveKeyPairs: target,
                    generateKeyPairs: csrDirectory == nil ? nil : true))
            if let csrDirectory {
                try write(answer.document.pendingKeyPairs ?? [], to: try Directory(making: csrDirectory))
            }
            try global.printer.show(answer.json) { answer.document.blocks }
        }
    }

    /// The same key pair's CSR is the same, so an interrupted run goes on where it ended.
    private func write(_ pending: [KeyDocument], to directory: Directory) throws {
        for key in pending {
            let (path, isNew) = try CSRFile.write(key, to: directory)
            if isNew { global.printer.remark("wrote \(path)") }
        }
    }
}
