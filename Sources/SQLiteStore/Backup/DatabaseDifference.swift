import GRDB
import MerchantCore
import StoreCore
package import Vocabulary

/// The changes that a restore of a backup undoes: the differences between the database before the restore ("newer") and
/// the restored backup ("older").
package struct DatabaseDifference: Sendable {
    /// How many changes of each kind are listed at most. Further changes are only counted.
    package static let maximumListed = 1000

    /// The kinds of changes, sorted by their urgency for the operator, the most urgent first.
    package enum Kind: String, CaseIterable, Sendable {
        /// Key pairs that were revoked or destroyed before the restore, and can decrypt again after the restore.
        case usableAgain
        /// Key pairs that only the newer database contains.
        case missing
        /// Key pairs whose private key was destroyed before the restore, and is stored again after the restore, but
        /// that are not `usableAgain`.
        case destructionUndone
        /// Accesses to the portal that are revoked in only one of the two databases; and accesses that are not revoked,
        /// and are missing or have other tokens in the older database.
        case accesses
        /// Invitations to the portal that are open and only in the newer database, or whose state differs between the
        /// two databases.
        case invitations
        /// Key pairs whose state differs, but that are neither `usableAgain` nor `destructionUndone`.
        case earlierState
        /// Key pairs that are revoked in the older database and not destroyed in the newer one, and whose scheduled
        /// destruction has different times in the two databases or is in only one of them.
        case destructions
        /// Key pairs whose private key was exported, but only the newer database has recorded the export.
        case exports
        /// Certificates that only the newer database contains.
        case certificates
        /// Rolls that are missing or at another step in the older database.
        case rolls
        /// Registrations with Apple that are missing or have other content in the older database.
        case registrations
        /// Merchants that are missing in the older database, are removed in only one of the two databases, or have
        /// another name or another target number of key pairs.
        case merchants
        /// Secret paths for notifications of merchant tokens that only the newer database contains.
        case tokenNotificationPaths
        /// Notifications of merchant tokens that waited before the restore, and that only the newer database contains.
        case tokenNotifications
        /// Merchant tokens that are missing in the older database, or have another state or another notification URL.
        case merchantTokens
    }

    /// One row that differs between the two databases.
    package struct Change: Hashable, Sendable {
        /// What the row describes.
        package enum Subject: Hashable, Sendable {
            case keyPair(PublicKeyHash)
            case certificate(serialNumber: String, of: PublicKeyHash)
            case roll(id: String, to: PublicKeyHash)
            case registration(PartnerInternalMerchantIdentifier)
            case merchant
            case access(AccessName)
            case invitation(InvitationIdentifier)
            case tokenNotificationPath
            case tokenNotification(MerchantTokenEventIdentifier)
            case merchantToken(MerchantTokenIdentifier)
        }

        package let subject: Subject
        /// nil for an access, and for a registration without a merchant.
        package let merchantIdentifier: MerchantIdentifier?
        /// The state before the restore, from the newer database.
        package let was: String
        /// The state after the restore, from the older database; nil if the older database lacks the row.
        package let now: String?
    }

    /// The changes of one kind.
    package struct Changes: Sendable {
        /// The first ``maximumListed`` changes.
        package var listed: [Change] = []
        /// The number of all changes, listed or not.
        package var count = 0
    }

    private var changes: [Kind: Changes] = [:]
    /// The numbers of the audit records that only the newer database contains; nil if there are none.
    package private(set) var missingAuditRecords: ClosedRange<Int>?

    package subscript(kind: Kind) -> Changes { changes[kind] ?? Changes() }

    /// Whether there is no change of any ``Kind``. Audit records are not considered.
    package var isEmpty: Bool { changes.values.allSatisfy { $0.count == 0 } }

    /// Compares two databases without changing them.
    ///
    /// - Parameters:
    ///   - newer: the path of the database before the restore.
    ///   - older: the path of the restored backup.
    /// - Throws: `storeUnavailable` if one of the two cannot be read.
    package init(from newer: String, to older: String) throws {
        self = try SQLiteErrors.translating {
            let queue = try DatabaseInspection.openReadOnly(newer)
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
                db,
                sql: "SELECT \(query.columns) \(query.fromAndWhere) ORDER BY \(query.order) LIMIT \(Self.maximumListed)"
            )
            var found = Changes(listed: try rows.map { try Change($0, kind) }, count: rows.count)
            if rows.count == Self.maximumListed {
                found.count = try Int.fetchOne(db, sql: "SELECT count(*) \(query.fromAndWhere)") ?? rows.count
            }
            changes[kind] = found
        }
        missingAuditRecords = try Self.missingAuditRecords(db)
    }

    private static func missingAuditRecords(_ db: Database) throws -> ClosedRange<Int>? {
        func last(_ schema: String) throws -> Int {
            try Int.fetchOne(db, sql: "SELECT max(sequence) FROM \(schema).audit") ?? 0
        }
        let (older, newer) = (try last("older"), try last("main"))
        return older < newer ? older + 1...newer : nil
    }
}

extension DatabaseDifference.Change {
    fileprivate init(_ row: Row, _ kind: DatabaseDifference.Kind) throws {
        subject =
            switch kind {
            case .usableAgain, .missing, .destructionUndone, .earlierState, .destructions, .exports:
                .keyPair(try row.publicKeyHash())
            case .certificates: .certificate(serialNumber: try row.text("serial_number"), of: try row.publicKeyHash())
            case .rolls: .roll(id: String(try row.integer("id")), to: try row.publicKeyHash())
            case .registrations: .registration(try row.partner())
            case .merchants: .merchant
            case .accesses: .access(try row.value(AccessName(text: try row.text("name")), of: "name"))
            case .invitations: .invitation(try row.invitationIdentifier("identifier"))
            case .tokenNotificationPaths: .tokenNotificationPath
            case .tokenNotifications: .tokenNotification(try row.merchantTokenEventIdentifier())
            case .merchantTokens: .merchantToken(try row.merchantTokenIdentifier("identifier"))
            }
        merchantIdentifier = try row.merchantIdentifierIfAny()
        was = try row.text("was")
        now = try row.textIfAny("now")
    }
}
