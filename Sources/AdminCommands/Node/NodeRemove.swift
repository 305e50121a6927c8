import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct NodeRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a daemon that no longer runs from the list of nodes.",
        discussion: """
            Only a daemon whose lease has ended can be removed; a daemon that is stopped cleanly removes itself. Make \
            sure that the daemon does not run: with 'store.postgresql.serve-stale', a daemon uses the keys in its \
            memory while it can't reach the database. After the removal, the responses to revocations no longer name \
            this daemon. A daemon that still runs joins again when it reaches the database.
            """,
        examples: ["node remove host2 --yes"])

    @Argument(help: "The name of the node, as 'node list' shows it.", transform: NodeName.parse)
    var name: NodeName

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            if confirmation.dryRun || !confirmation.yes {
                let node = try await admin.removeNode(name, dryRun: true)
                if confirmation.dryRun {
                    try global.printer.show(node.json) { [NodeDocument.table([node.document])] }
                    global.printer.note("would remove node \(name)")
                    return
                }
                try confirmation.confirm("remove node \(name), whose daemon does not run")
            }
            let node = try await admin.removeNode(name, dryRun: false)
            try global.printer.show(node.json) { [NodeDocument.table([node.document])] }
            global.printer.note("removed node \(name)")
        }
    }
}
