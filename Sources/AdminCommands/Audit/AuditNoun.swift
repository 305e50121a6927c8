import ArgumentParser
import MerchantKeyClient
import Vocabulary

struct AuditNoun: NounCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Who did what, when and why.",
        subcommands: [AuditList.self, AuditExport.self, AuditVerify.self])
}

/// Which records a verb is about.
struct AuditOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Only of this merchant.", valueName: "id"), transform: MerchantArgument.parse)
    var merchant: MerchantIdentifier?

    @Option(help: ArgumentHelp("Only of this key.", valueName: "key"), transform: KeyArgument.parse)
    var key: KeyArgument?

    @Option(help: ArgumentHelp("Only of callers with this uid.", valueName: "uid"))
    var caller: UInt32?

    @Option(
        help: ArgumentHelp("Only from this moment on, as 2026-11-21T04:53:15Z.", valueName: "time"),
        transform: TimeArgument.parse)
    var since: Timestamp?

    @Option(
        help: ArgumentHelp("Only before this moment.", valueName: "time"), transform: TimeArgument.parse)
    var until: Timestamp?

    func query(_ admin: AdminClient) async throws -> AuditQuery {
        AuditQuery(
            merchant: merchant, key: try await key?.resolve(admin), callerUID: caller, since: since, until: until)
    }
}
