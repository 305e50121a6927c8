import Vocabulary

extension DatabaseDifference {
    /// How many changes of each kind the summary lists at most.
    private static let maximumInSummary = 5

    /// A text with the number of changes of each kind and the names of the first ``maximumInSummary``; nil if there are
    /// no changes.
    package var summary: String? {
        let parts = Kind.allCases.compactMap { kind -> String? in
            let changes = self[kind]
            guard changes.count > 0 else { return nil }
            let first = changes.listed.prefix(Self.maximumInSummary).map(\.name)
            let rest = changes.count > first.count ? " …" : ""
            return "\(kind.text(changes.count)): \(first.joined(separator: ", "))\(rest)"
        }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}

extension DatabaseDifference.Change {
    /// Names the changed key pair, certificate, roll, registration, merchant or other subject. Never names a secret.
    package var name: String {
        let merchant = merchantIdentifier.map { " of \($0)" } ?? ""
        return switch subject {
        case .keyPair(let hash): "\(hash)\(merchant)"
        case .certificate(let serialNumber, let hash): "serial \(serialNumber) of key \(hash)\(merchant)"
        case .roll(let id, let hash): "roll \(id) to key \(hash)\(merchant)"
        case .registration(let partner): "\(partner)"
        case .merchant: merchantIdentifier?.rawValue ?? "-"
        case .access(let name): "access \(name)"
        case .invitation(let identifier): "invitation \(identifier)\(merchant)"
        case .tokenNotificationPath: "notification URL\(merchant)"
        case .tokenNotification(let event): "event \(event)\(merchant)"
        case .merchantToken(let identifier): "merchant token \(identifier)\(merchant)"
        }
    }
}

extension DatabaseDifference.Kind {
    /// The number of changes and what changed, such as `1 key pair is missing`.
    fileprivate func text(_ count: Int) -> String {
        switch self {
        case .usableAgain: count.counted("revoked key pair is usable again", "revoked key pairs are usable again")
        case .missing: count.counted("key pair is missing", "key pairs are missing")
        case .destructionUndone:
            count.counted(
                "destroyed private key is stored again, sealed", "destroyed private keys are stored again, sealed")
        case .earlierState:
            count.counted("key pair is in its earlier state", "key pairs are in their earlier states")
        case .destructions:
            count.counted("scheduled destruction has changed", "scheduled destructions have changed")
        case .exports:
            count.counted("export of a private key is not recorded", "exports of private keys are not recorded")
        case .certificates: count.counted("certificate is missing", "certificates are missing")
        case .rolls:
            count.counted("roll is missing or in its earlier state", "rolls are missing or in their earlier states")
        case .registrations:
            count.counted(
                "registration is missing or in its earlier state",
                "registrations are missing or in their earlier states")
        case .merchants:
            count.counted(
                "merchant is missing or in its earlier state", "merchants are missing or in their earlier states")
        case .accesses:
            count.counted(
                "portal access is missing or in its earlier state",
                "portal accesses are missing or in their earlier states")
        case .invitations:
            count.counted(
                "invitation is missing or in its earlier state", "invitations are missing or in their earlier states")
        case .tokenNotificationPaths:
            count.counted(
                "URL for notifications of merchant tokens is missing",
                "URLs for notifications of merchant tokens are missing")
        case .tokenNotifications:
            count.counted(
                "waiting notification of a merchant token is missing",
                "waiting notifications of merchant tokens are missing")
        case .merchantTokens:
            count.counted(
                "merchant token is missing or in its earlier state",
                "merchant tokens are missing or in their earlier states")
        }
    }
}
