import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct NodeList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the daemons that share the PostgreSQL database, with their leases.",
        discussion: """
            LEASE (S) is the seconds until the daemon's lease ends; while it has a lease, it may use its caches. \
            'ended': the daemon was killed, is frozen, or can't reach the database. 'stale 240': its lease has ended, \
            but it may use the keys in its memory for 240 more seconds (the setting store.postgresql.serve-stale). \
            UNAPPLIED is the number of key pair changes that the daemon has not applied yet. It is normally 0 again \
            within a second; until then, a change of a key waits for this daemon, but not longer than its lease. \
            LEADER marks the daemon that delivers events and runs the schedules. On SQLite the list is empty.
            """,
        examples: ["node list"])

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let response = try await admin.nodes()
            try global.printer.show(response.json) { [NodeDocument.table(response.document.items)] }
        }
    }
}

extension NodeDocument {
    static func table(_ nodes: [NodeDocument]) -> Block {
        .table(
            headings: ["NODE", "LEASE (S)", "UNAPPLIED", "LEADER", "VERSION", "JOINED (UTC)"],
            rows: nodes.map { node in
                [
                    Cell(node.isThisDaemon ? "\(node.name) (this daemon)" : node.name.text), node.leaseCell,
                    Cell(node.unappliedChanges, node.unappliedChanges > 0 ? .warning : .plain),
                    Cell(node.isLeader ? "yes" : "-"), Cell(node.version), Cell(time: node.joinedAt),
                ]
            })
    }

    private var leaseCell: Cell {
        if leaseSeconds > 0 { return Cell(Int(leaseSeconds)) }
        return cacheSeconds > 0 ? Cell("stale \(Int(cacheSeconds))", .critical) : Cell("ended", .warning)
    }
}
