import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct MerchantAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a merchant.",
        discussion: """
            The default target is 2 active key pairs. Adding a merchant again with the same options changes nothing.
            """,
        examples: ["merchant add merchant.com.example --name \"Example Shop\" --csr-directory csrs"])

    @Argument(
        help: "The merchant's identifier: merchant.… or platformintegrator.….", transform: MerchantIdentifier.parse)
    var id: MerchantIdentifier

    @OptionGroup var options: MerchantOptions

    @Option(
        help: ArgumentHelp(
            "Generate key pairs until the merchant has as many as its target, and write their CSRs to this directory.",
            valueName: "directory"), completion: .directory)
    var csrDirectory: String?

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            var request = AddMerchantRequest(id)
            request.set(options)
            request.generateKeyPairs = csrDirectory == nil ? nil : true
            let response = try await admin.addMerchant(request)
            if let csrDirectory {
                try writeCSRs(of: response.document.pendingKeyPairs ?? [], to: try Directory(creating: csrDirectory))
            }
            try global.printer.show(response.json) { response.document.blocks }
        }
    }

    /// Writes the CSRs that are not in the directory yet. The CSR of a key pair never changes, so existing files stay
    /// valid.
    private func writeCSRs(of keys: [KeyDocument], to directory: Directory) throws {
        for key in keys {
            let (path, isNew) = try CSRFile.write(key, to: directory)
            if isNew { global.printer.note("wrote \(path)") }
        }
    }
}
