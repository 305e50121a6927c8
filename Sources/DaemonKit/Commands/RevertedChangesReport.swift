import SQLiteStore
import Vocabulary

/// The changes that a restore undid, as JSON: for each kind of change the number of changes, and the first 1000 of
/// them.
struct RevertedChangesDocument: Encodable {
    struct Change: Encodable {
        private(set) var publicKeyHash: String?
        private(set) var serialNumber: String?
        private(set) var rollId: String?
        private(set) var partnerInternalMerchantIdentifier: String?
        private(set) var accessName: String?
        private(set) var invitationId: String?
        private(set) var merchantTokenIdentifier: String?
        private(set) var eventIdentifier: String?
        let merchantIdentifier: String?
        /// The state in the old database.
        let was: String
        /// The state in the restored database; absent if that database lacks the key pair, roll or other subject.
        let now: String?

        init(_ change: DatabaseDifference.Change) {
            switch change.subject {
            case .keyPair(let hash): publicKeyHash = hash.base64
            case .certificate(let serialNumber, let hash):
                (self.serialNumber, publicKeyHash) = (serialNumber, hash.base64)
            case .roll(let id, let hash): (rollId, publicKeyHash) = (id, hash.base64)
            case .registration(let partner): partnerInternalMerchantIdentifier = partner.rawValue
            case .merchant, .tokenNotificationPath: break
            case .access(let name): accessName = name.rawValue
            case .invitation(let identifier): invitationId = identifier.rawValue
            case .tokenNotification(let event): eventIdentifier = event.rawValue
            case .merchantToken(let identifier): merchantTokenIdentifier = identifier.rawValue
            }
            merchantIdentifier = change.merchantIdentifier?.rawValue
            was = change.was
            now = change.now
        }
    }

    private struct MemberName: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ text: String) { stringValue = text }

        init?(stringValue: String) { self.init(stringValue) }

        init?(intValue: Int) { nil }
    }

    private let undone: RevertedChanges

    init(_ undone: RevertedChanges) { self.undone = undone }

    /// Encodes `{"unknownBecause": …}` if the databases could not be compared. Otherwise encodes two members for each
    /// kind of change, such as `missingCount` and `missing`.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: MemberName.self)
        switch undone {
        case .unknown(let why): try container.encode(why, forKey: MemberName("unknownBecause"))
        case .known(let difference):
            for kind in DatabaseDifference.Kind.allCases {
                let changes = difference[kind]
                try container.encode(changes.count, forKey: MemberName("\(kind.rawValue)Count"))
                try container.encode(changes.listed.map(Change.init), forKey: MemberName(kind.rawValue))
            }
            if let missing = difference.missingAuditRecords {
                try container.encode(missing.lowerBound, forKey: MemberName("firstMissingAuditRecord"))
                try container.encode(missing.upperBound, forKey: MemberName("lastMissingAuditRecord"))
            }
        }
    }
}

extension RevertedChanges {
    private var auditLine: [(name: String, value: String)] {
        missingAuditRecords.isEmpty
            ? [] : [("audit", "\(missingAuditRecords); the daemon gives these numbers to new records")]
    }

    /// The changes as text, one line for each listed change with what the operator should do.
    ///
    /// - Parameter backupTime: when the backup was created.
    func lines(since backupTime: Timestamp) -> [(name: String, value: String)] {
        switch self {
        case .unknown:
            [
                ("undone", summary),
                (
                    "what to do",
                    "find out which keys were revoked or destroyed after \(backupTime): search an exported audit, or the events that webhooks received, for keyRevoked and keyDestroyed. Revoke these keys again. The audit heads in 'audit.head.file' or in syslog show how many audit records are missing"
                ),
            ]
        case .known(let difference) where difference.isEmpty: [("undone", summary)] + auditLine
        case .known(let difference):
            DatabaseDifference.Kind.allCases.flatMap { kind -> [(name: String, value: String)] in
                let changes = difference[kind]
                let unlisted = changes.count - changes.listed.count
                return changes.listed.map { (kind.label($0), "\($0.name), \($0.states)\(kind.advice($0))") }
                    + (unlisted > 0 ? [(kind.label(nil), "and \(unlisted) more")] : [])
            } + auditLine
        }
    }
}

extension DatabaseDifference.Change {
    fileprivate var states: String { now.map { "was \(was), is \($0)" } ?? "was \(was), is missing from this database" }
}

extension DatabaseDifference.Kind {
    /// The first column of the table. `change` is nil in the line that only counts further changes.
    fileprivate func label(_ change: DatabaseDifference.Change?) -> String {
        switch self {
        case .usableAgain: "USABLE AGAIN"
        case .missing: "missing"
        case .destructionUndone: "no longer destroyed"
        case .earlierState: "earlier state"
        case .destructions: "destruction"
        case .exports: "exported"
        case .certificates: "certificate missing"
        case .rolls: change?.now == nil ? "roll missing" : "roll in earlier state"
        case .registrations: change?.now == nil ? "registration missing" : "registration in earlier state"
        case .merchants: change?.now == nil ? "merchant missing" : "merchant in earlier state"
        case .accesses: change?.now == nil ? "access missing" : "access in earlier state"
        case .invitations: change?.now == nil ? "invitation missing" : "invitation in earlier state"
        case .tokenNotificationPaths: "notification URL missing"
        case .tokenNotifications: "notification missing"
        case .merchantTokens: change?.now == nil ? "merchant token missing" : "merchant token in earlier state"
        }
    }

    /// What the operator should do, as the end of a line; empty if nothing.
    fileprivate func advice(_ change: DatabaseDifference.Change) -> String {
        switch self {
        case .usableAgain: ": revoke the key again, unless the revocation was a mistake"
        case .missing: ": only the old database contains its private key"
        case .destructionUndone: ": the restored database contains its private key, sealed; destroy the key again"
        case .earlierState: change.now == "pending" ? ": upload its certificate again, or revoke the key" : ""
        case .destructions:
            change.now == "no destruction scheduled"
                ? ": schedule its destruction again"
                : ": the key is destroyed in 30 days at the earliest; 'key restore' prevents that"
        case .exports:
            ": copies of its private key exist outside the daemon; from now on, the daemon treats the key as exported"
        case .certificates: ": upload the certificate again"
        case .rolls: change.now == nil ? ": start the roll again if it is still needed" : ""
        case .registrations: ": register or unregister the merchant again, then run 'registration sync'"
        case .merchants: ""
        case .accesses:
            change.now == nil
                ? ": create the access again, with another token"
                : change.was == "revoked" ? ": revoke the access again" : ": rotate its token again"
        case .invitations:
            change.now == "open"
                ? ": its link can be used again to begin a session; revoke the invitation"
                : change.now == nil ? ": create the invitation again" : ": revoke the invitation again"
        case .tokenNotificationPaths:
            ": notifications to this URL are ignored; create another URL with 'merchant-token notification-url --new', and set it for the merchant's tokens"
        case .tokenNotifications:
            ": Apple does not send it again; within 7 days of its arrival, send a GET request for this event to the merchant's notification URL"
        case .merchantTokens:
            change.now == nil
                ? ": the next payment or event of the token adds it again"
                : change.now == "linked" ? ": unlink the token again" : ""
        }
    }
}
