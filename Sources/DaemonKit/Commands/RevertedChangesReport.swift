import SQLiteStore
import Vocabulary

/// What a restore undid, as JSON: for each kind of change its true count and at most 1000 of the changes.
struct RevertedChangesDocument: Encodable {
    struct Change: Encodable {
        private(set) var publicKeyHash: String?
        private(set) var serialNumber: String?
        private(set) var rollId: String?
        private(set) var partnerInternalMerchantIdentifier: String?
        let merchantIdentifier: String?
        /// In the old database.
        let was: String
        /// Now; absent where the restored database does not have it.
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

    /// `{"unknownBecause": …}`, or for each kind `kind` the members `kindCount` and `kind`.
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
    /// The same for people: a line for each change, and what to do about it.
    func lines(since backup: Timestamp) -> [(name: String, value: String)] {
        switch self {
        case .unknown:
            [
                ("undone", summary),
                (
                    "look for",
                    "keyRevoked and keyDestroyed after \(backup) in an exported audit, in events that webhooks got, and in the shipped audit heads how many records are gone; revoke again what was revoked"
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
    fileprivate var states: String { now.map { "was \(was), is \($0)" } ?? "was \(was), is not in this database" }
}

extension DatabaseDifference.Kind {
    fileprivate func label(_ change: DatabaseDifference.Change?) -> String {
        switch self {
        case .answeringAgain: "ANSWERS AGAIN"
        case .missing: "is gone"
        case .undestroyed: "is back"
        case .fellBack: "fell back"
        case .destructions: "destruction"
        case .exports: "exported"
        case .certificates: "certificate gone"
        case .rolls: change?.now == nil ? "roll gone" : "roll fell back"
        case .registrations: change?.now == nil ? "registration gone" : "registration fell back"
        case .merchants: change?.now == nil ? "merchant gone" : "merchant fell back"
        }
    }

    fileprivate func advice(_ change: DatabaseDifference.Change) -> String {
        switch self {
        case .answeringAgain: ": revoke it again, unless that was a mistake"
        case .missing: ": its private key is in the old database alone"
        case .undestroyed: ": its private key is stored again, sealed; destroy it again"
        case .fellBack: change.now == "pending" ? ": upload its certificate again, or revoke it" : ""
        case .destructions:
            change.now == "not to be destroyed"
                ? ": schedule its destruction again"
                : ": it will be destroyed 30 days from now at the earliest; key restore prevents it"
        case .exports: ": copies of its private key are outside; it counts as exported from now on"
        case .certificates: ": upload it again"
        case .rolls: change.now == nil ? ": start it again where it is still needed" : ""
        case .registrations: ": register or unregister it again, then run 'registration sync'"
        case .merchants: ""
        }
    }
}
