import SQLiteStore
import Vocabulary

/// What a restore undid, as JSON: for each kind of change the full count and at most 1000 of the changes.
struct RevertedChangesDocument: Encodable {
    struct Change: Encodable {
        private(set) var publicKeyHash: String?
        private(set) var serialNumber: String?
        private(set) var rollId: String?
        private(set) var partnerInternalMerchantIdentifier: String?
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
            case .merchant: break
            }
            merchantIdentifier = change.merchantIdentifier?.rawValue
            was = change.was
            now = change.now
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ text: String) { stringValue = text }

        init?(stringValue: String) { self.init(stringValue) }

        init?(intValue: Int) { nil }
    }

    private let undone: Restore.RevertedChange

    init(_ undone: Restore.RevertedChange) { self.undone = undone }

    /// Encodes `{"unknownBecause": …}` if the changes are not known. Otherwise encodes two members for each kind of
    /// change, such as `missingCount` and `missing`.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        switch undone {
        case .unknown(let why): try container.encode(why, forKey: Name("unknownBecause"))
        case .known(let difference):
            for kind in DatabaseDifference.Kind.allCases {
                let changes = difference[kind]
                try container.encode(changes.count, forKey: Name("\(kind.rawValue)Count"))
                try container.encode(changes.named.map(Change.init), forKey: Name(kind.rawValue))
            }
        }
    }
}

extension Restore.RevertedChange {
    /// The changes as text: a line for each, with what to do about it.
    func lines(since backup: Timestamp) -> [(name: String, value: String)] {
        switch self {
        case .unknown:
            [
                ("undone", summary),
                (
                    "what to do",
                    "search for keyRevoked and keyDestroyed after \(backup) in an exported audit and in the events that webhooks received, and revoke those keys again; the shipped audit heads show how many records are missing"
                ),
            ]
        case .known(let difference) where difference.isEmpty: [("undone", summary)]
        case .known(let difference):
            DatabaseDifference.Kind.allCases.flatMap { kind -> [(name: String, value: String)] in
                let changes = difference[kind]
                let rest = changes.count - changes.named.count
                return changes.named.map { (kind.label($0), "\($0.name), \($0.states)\(kind.advice($0))") }
                    + (rest > 0 ? [(kind.label(nil), "and \(rest) more")] : [])
            }
        }
    }
}

extension DatabaseDifference.Change {
    fileprivate var states: String { now.map { "was \(was), is \($0)" } ?? "was \(was), is missing from this database" }
}

extension DatabaseDifference.Kind {
    fileprivate func label(_ change: DatabaseDifference.Change?) -> String {
        switch self {
        case .usableAgain: "USABLE AGAIN"
        case .missing: "missing"
        case .undestroyed: "no longer destroyed"
        case .earlierState: "earlier state"
        case .destructions: "destruction"
        case .exports: "exported"
        case .certificates: "certificate missing"
        case .rolls: change?.now == nil ? "roll missing" : "roll in earlier state"
        case .registrations: change?.now == nil ? "registration missing" : "registration in earlier state"
        case .merchants: change?.now == nil ? "merchant missing" : "merchant in earlier state"
        }
    }

    fileprivate func advice(_ change: DatabaseDifference.Change) -> String {
        switch self {
        case .usableAgain: ": revoke it again, unless the revocation was a mistake"
        case .missing: ": only the old database holds its private key"
        case .undestroyed: ": its private key is stored again, sealed; destroy it again"
        case .earlierState: change.now == "pending" ? ": upload its certificate again, or revoke it" : ""
        case .destructions:
            change.now == "no destruction scheduled"
                ? ": schedule its destruction again"
                : ": it is destroyed in 30 days at the earliest; 'key restore' prevents that"
        case .exports: ": copies of its private key exist outside the daemon; it counts as exported from now on"
        case .certificates: ": upload it again"
        case .rolls: change.now == nil ? ": start it again if it is still needed" : ""
        case .registrations: ": register or unregister it again, then run 'registration sync'"
        case .merchants: ""
        }
    }
}
