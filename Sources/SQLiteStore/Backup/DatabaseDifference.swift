import GRDB
import MerchantCore
package import Vocabulary

/// The changes that a restore undoes: the differences between the database before the restore ("newer") and the
/// restored backup that replaces it ("older").
package struct DatabaseDifference: Sendable {
    /// The most changes of one kind that are listed. Further ones are only counted.
    package static let mostNamed = 1000

    /// The kinds of changes, those first that are most urgent for the operator.
    package enum Kind: String, CaseIterable, Sendable {
        /// Key pairs that were revoked or destroyed, and can decrypt again after the restore.
        case usableAgain
        /// Key pairs that only the newer database has.
        case missing
        /// Key pairs whose private key was destroyed, and is stored again after the restore.
        case undestroyed
        /// Key pairs in another state, unless a kind above includes them.
        case earlierState
        /// Key pairs whose destruction is scheduled for another time, or in only one of the two databases.
        case destructions
        /// Key pairs whose private key was exported. Only the newer database records the export.
        case exports
        /// Certificates that only the newer database has.
        case certificates
        /// Rolls that are missing or at another step.
        case rolls
        /// Registrations with Apple that are missing or have other content.
        case registrations
        /// Merchants that are missing, are removed in only one of the two databases, or have another name or target.
        case merchants
    }

    package struct Change: Hashable, Sendable {
        package enum Subject: Hashable, Sendable {
            case keyPair(PublicKeyHash)
            case certificate(serialNumber: String, of: PublicKeyHash)
            case roll(id: String, to: PublicKeyHash)
            case registration(PartnerInternalMerchantIdentifier)
            case merchant
        }

        package let subject: Subject
        /// nil for a registration that belongs to no merchant in the database.
        package let merchantIdentifier: MerchantIdentifier?
        /// The state before the restore, from the newer database.
        package let was: String
        /// The state after the restore, from the older database; nil if the older database does not have the row.
        package let now: String?
    }

    /// The changes of one kind.
    package struct Changes: Sendable {
        /// The first ``mostNamed`` changes.
        package var named: [Change] = []
        /// The number of all changes.
        package var count = 0
    }

    private var changes: [Kind: Changes] = [:]

    package subscript(kind: Kind) -> Changes { changes[kind] ?? Changes() }

    package var isEmpty: Bool { changes.values.allSatisfy { $0.count == 0 } }

    /// Compares two databases without changing them.
    ///
    /// - Parameters:
    ///   - newer: the path of the database before the restore.
    ///   - older: the path of the restored backup.
    /// - Throws: `storeUnavailable` if one of the two cannot be read.
    package init(from newer: String, to older: String) throws {
        self = try SQLiteErrors.translating {
            let queue = try DatabaseInspection.queue(newer)
            defer { try? queue.close() }
            // `inDatabase` starts no transaction: SQLite cannot attach a database inside one.
            return try queue.inDatabase { db in
                try db.execute(sql: "ATTACH DATABASE ? AS older", arguments: [older])
                return try Self(reading: db)
            }
        }
    }

    private init(reading db: Database) throws {
        for kind in Kind.allCases {
            let query = kind.query
            // The newer database may have an earlier schema version, which lacks the table.
            guard try db.tableExists(query.table, in: "main") else { continue }
            let rows = try Row.fetchAll(
                db, sql: "SELECT \(query.columns) \(query.fromAndWhere) ORDER BY \(query.order) LIMIT \(Self.mostNamed)"
            )
            var found = Changes(named: try rows.map { try Change($0, kind) }, count: rows.count)
            if rows.count == Self.mostNamed {
                found.count = try Int.fetchOne(db, sql: "SELECT count(*) \(query.fromAndWhere)") ?? rows.count
            }
            changes[kind] = found
        }
    }
}

extension DatabaseDifference.Change {
    fileprivate init(_ row: Row, _ kind: DatabaseDifference.Kind) throws {
        subject =
            switch kind {
            case .usableAgain, .missing, .undestroyed, .earlierState, .destructions, .exports:
                .keyPair(try row.publicKeyHash())
            case .certificates: .certificate(serialNumber: try row.text("serial_number"), of: try row.publicKeyHash())
            case .rolls: .roll(id: String(try row.integer("id")), to: try row.publicKeyHash())
            case .registrations: .registration(try row.partner())
            case .merchants: .merchant
            }
        merchantIdentifier = try row.merchantIdentifierIfAny()
        was = try row.text("was")
        now = try row.textIfAny("now")
    }
}
