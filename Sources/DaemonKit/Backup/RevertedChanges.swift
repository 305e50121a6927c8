import SQLiteStore
import Vocabulary

/// The changes that a restore undoes: those that the old database contains and the backup lacks.
enum RevertedChanges {
    case known(DatabaseDifference)
    /// The databases could not be compared. The text is the reason.
    case unknown(String)

    var summary: String {
        switch self {
        case .known(let difference):
            difference.summary
                ?? "nothing: key pairs, certificates, rolls, registrations, merchants, accesses, invitations and merchant tokens are as in the old database"
        case .unknown(let why):
            "it is not known which keys, accesses and invitations, revoked after the backup was created, are usable again: \(why)"
        }
    }

    /// Whether the databases could be compared and have the same content, apart from the audit.
    var areNone: Bool {
        if case .known(let difference) = self { difference.isEmpty } else { false }
    }

    /// Which audit records the restored database lacks; empty if it lacks none, or if this is unknown.
    var missingAuditRecords: String {
        guard case .known(let difference) = self, let missing = difference.missingAuditRecords else { return "" }
        return missing.count == 1
            ? "audit record \(missing.lowerBound) is missing"
            : "audit records \(missing.lowerBound) to \(missing.upperBound) are missing"
    }

    /// The keys that were exported after the backup was created, at most ``DatabaseDifference/maximumListed``.
    var exportedKeys: [PublicKeyHash] {
        guard case .known(let difference) = self else { return [] }
        return difference[.exports].listed.compactMap { change in
            if case .keyPair(let hash) = change.subject { hash } else { nil }
        }
    }
}
