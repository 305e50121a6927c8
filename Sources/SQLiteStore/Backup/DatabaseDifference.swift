import GRDB
import MerchantCore
package import Vocabulary

/// What a restore undoes: the differences between the newer database and the older copy that replaces it.
package struct DatabaseDifference: Sendable {
    /// The most changes of one kind that are named; all of them are counted.
    package static let mostNamed = 1000

    /// Most urgent for the operator first.
    package enum Kind: String, CaseIterable, Sendable {
        /// Key pairs that were revoked or destroyed, and decrypt again.
        case usableAgain
        /// Key pairs that only the newer database has.
        case missing
        /// Key pairs whose destroyed private key is stored again.
        case undestroyed
        /// Key pairs in another state, for any other reason.
        case earlierState
        /// Key pairs whose scheduled destruction has another time or is missing.
        case destructions
        /// Key pairs whose private key was exported, which only the newer database knows.
        case exports
        /// Certificates that only the newer database has.
        case certificates
        /// Rolls that are missing or at another step.
        case rolls
        /// Registrations with Apple that are missing or have other content.
        case registrations
        /// Merchants that are missing, were removed, or have another name or target.
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
        /// Nil for a registration that belongs to no merchant record.
        package let merchantIdentifier: MerchantIdentifier?
        /// In the newer database.
        package let was: String
        /// In the older copy; nil if the copy does not have it.
        package let now: String?
    }

    /// The changes of one kind.
    package struct Changes: Sendable {
        /// The first ``mostNamed``.
        package var named: [Change] = []
        package var count = 0
    }

    private var changes: [Kind: Changes] = [:]

    package subscript(kind: Kind) -> Changes { changes[kind] ?? Changes() }

    package var isEmpty: Bool { changes.values.allSatisfy { $0.count == 0 } }

    /// Reads both and changes neither.
    ///
    /// - Throws: `storeUnavailable` if one of them cannot be read.
    package init(from newer: String, to older: String) throws {
        self = try SQLiteErrors.translating {
            let queue = try DatabaseInspection.queue(newer)
            defer { try? queue.close() }
            // SQLite attaches a database only outside of a transaction.
            return try queue.inDatabase { db in
                try db.execute(sql: "ATTACH DATABASE ? AS older", arguments: [older])
                return try Self(reading: db)
            }
        }
    }

    private init(reading db: Database) throws {
        for kind in Kind.allCases {
            let query = kind.query
            // A database of an earlier schema version may lack the table.
            guard try db.tableExists(query.table, in: "main") else { continue }
            let rows = try Row.fetchAll(
                db, sql: "SELECT \(query.columns) \(query.rows) ORDER BY \(query.order) LIMIT \(Self.mostNamed)")
            var found = Changes(named: try rows.map { try Change($0, kind) }, count: rows.count)
            if rows.count == Self.mostNamed {
                found.count = try Int.fetchOne(db, sql: "SELECT count(*) \(query.rows)") ?? rows.count
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
