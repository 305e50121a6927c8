import ArgumentParser
import MerchantKeyClient
import Vocabulary

struct AuditCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "List, export and verify the audit.",
        subcommands: [AuditList.self, AuditExport.self, AuditVerify.self])
}

/// The options that select audit records.
struct AuditOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Select only records of this merchant.", valueName: "id"),
        completion: .merchant, transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier?

    @Option(
        help: ArgumentHelp("Select only records of this key.", valueName: "key"), completion: .key,
        transform: KeyArgument.parse)
    var key: KeyArgument?

    @Option(
        help: ArgumentHelp(
            "Select only records of this caller: a user id, or a name such as access:NAME.", valueName: "caller"))
    var caller: String?

    @Option(
        help: ArgumentHelp("Select only records from this time on: \(PastTime.forms).", valueName: "time"),
        transform: PastTime.parse)
    var since: Timestamp?

    @Option(
        help: ArgumentHelp("Select only records before this time.", valueName: "time"), transform: PastTime.parse)
    var until: Timestamp?

    /// The query for the daemon. If the user gave only the first characters of the key, asks the daemon for the whole
    /// hash.
    func query(resolvingKeyWith admin: AdminClient) async throws -> AuditQuery {
        var query = AuditQuery()
        query.merchant = merchant
        query.key = try await key?.resolve(admin)
        query.caller = caller
        query.since = since
        query.until = until
        return query
    }
}
