import ArgumentParser
import KeyCustody
import MerchantCore

struct MasterKeyIdentifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "master-key-identify", abstract: "Print the identifier of the master key in a file.",
        shouldDisplay: false)

    @Argument var file: String
    @OptionGroup var report: ReportOptions

    private struct Outcome: Encodable {
        let file: String
        let masterKeyIdentifier: String
    }

    func run() async throws {
        // The file usually belongs to the daemon's user, and `MasterKey.load` accepts only a file that belongs to this
        // process's user or to root.
        FileOwner.become(of: file)
        let identifier = try MasterKey.load(from: file).identifier.description
        try report.show(Outcome(file: file, masterKeyIdentifier: identifier), [("master key identifier", identifier)])
    }
}
