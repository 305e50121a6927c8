import DaemonKit
import MerchantCore
import Vocabulary

extension Rows {
    static let all = storage + databaseAndLog + content + otherFiles + postgresql

    /// What a start on PostgreSQL can find.
    static let postgresql: [Row] = [
        server("the first start", .opens) {
            $0.server?.hasContent = false
            $0.masterKey = .file(path: "/state/master.key", exists: false)
        },
        server("a later start", .opens),
        server("another daemon uses the node name", .refuses(.nodeNameInUse)) {
            $0.server?.nameInUse = "host1"
        },
        server("another daemon uses the node name, and the master key is missing", .refuses(.nodeNameInUse)) {
            $0.server?.nameInUse = "host1"
            $0.masterKey = .file(path: "/state/master.key", exists: false)
        },
        server("the master key is missing", .refuses(.masterKeyMissing)) {
            $0.masterKey = .file(path: "/state/master.key", exists: false)
        },
        server("another master key", .refuses(.masterKeyRejected)) {
            $0.masterKey = .rejected("found master key b, expected a")
        },
        server("a master key and an empty database", .warns([.masterKeyWithoutDatabase])) {
            $0.server?.hasContent = false
        },
        server("the database lacks the head in the file", .refusesUnlessAccepted([.databaseOlderThanShippedHead])) {
            $0.auditComparison = .init(
                headInDatabase: Observations.base,
                shippedHead: .found(
                    file: Observations.shippedFile, head: Observations.head, at: Observations.shippedAt,
                    difference: "record 12 is missing"))
        },
        server(
            "the database lacks a record that the daemon has seen", .refusesUnlessAccepted([.databaseLostTransactions])
        ) {
            $0.server?.lostTransactions = "audit record 12 is missing"
        },
        server(
            "the database lacks a record that the daemon has seen, and the head in audit.head.file",
            .refusesUnlessAccepted([.databaseLostTransactions, .databaseOlderThanShippedHead])
        ) {
            $0.server?.lostTransactions = "audit record 12 is missing"
            $0.auditComparison = .init(
                headInDatabase: Observations.base,
                shippedHead: .found(
                    file: Observations.shippedFile, head: Observations.head, at: Observations.shippedAt,
                    difference: "record 12 is missing"))
        },
        server("audit.head.file is empty", .warns([.noShippedHead])) {
            $0.auditComparison = .init(
                headInDatabase: Observations.head, shippedHead: .none(file: Observations.shippedFile))
        },
        server("an accepted loss is not in the audit yet", .refusesUnlessAccepted([.acceptedLossNotInAudit])) {
            $0.lockFile.lossesNotInAudit = ["the database lacks record 12"]
        },
        server("the database belongs to another environment", .warns([.environmentChanged])) {
            $0.environmentChange = .init(from: .production, to: .sandbox)
        },
        server("running daemons use another environment", .refuses(.environmentConflict)) {
            $0.environmentChange = .init(from: .production, to: .sandbox)
            $0.server?.others = ["host2"]
        },
        server("running daemons use the same environment", .opens) { $0.server?.others = ["host2"] },
    ]

    private static func server(
        _ name: String, _ outcome: Row.Outcome, _ change: (inout StartObservation) -> Void = { _ in }
    ) -> Row {
        Row("PostgreSQL: \(name)", outcome) { observation in
            observation = StartObservation(
                databasePath: "merchantkeyd on /run/postgresql", lockPath: "/state/merchantkeyd.lock",
                claimsPath: "merchantkeyd on /run/postgresql", masterKey: .file(path: "/state/master.key", exists: true)
            )
            observation.server = .init(hasContent: true)
            change(&observation)
        }
    }
}
