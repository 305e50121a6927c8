import Vocabulary

extension DatabaseDifference {
    /// How many changes of each kind the summary names.
    private static let mostInSummary = 5

    /// One sentence with the true count of each kind of change and the first few of them; nil where nothing differs.
    package var summary: String? {
        let parts = Kind.allCases.compactMap { kind -> String? in
            let changes = self[kind]
            guard changes.count > 0 else { return nil }
            let first = changes.named.prefix(Self.mostInSummary).map(\.name)
            let rest = changes.count > first.count ? " …" : ""
            return "\(changes.count) \(kind.words(changes.count)): \(first.joined(separator: ", "))\(rest)"
        }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}

extension DatabaseDifference.Change {
    /// Names the thing, without its states.
    package var name: String {
        let merchant = merchantIdentifier.map { " of \($0)" } ?? ""
        return switch subject {
        case .keyPair(let hash): "\(hash)\(merchant)"
        case .certificate(let serialNumber, let hash): "serial \(serialNumber) of key \(hash)\(merchant)"
        case .roll(let id, let hash): "roll \(id) to key \(hash)\(merchant)"
        case .registration(let partner): "\(partner)"
        case .merchant: merchantIdentifier?.rawValue ?? "-"
        }
    }
}

extension DatabaseDifference.Kind {
    /// After a count.
    fileprivate func words(_ count: Int) -> String {
        let isOne = count == 1
        return switch self {
        case .answeringAgain: isOne ? "revoked key pair is usable again" : "revoked key pairs are usable again"
        case .missing: isOne ? "key pair is not in it" : "key pairs are not in it"
        case .undestroyed:
            isOne ? "destroyed private key is back, sealed" : "destroyed private keys are back, sealed"
        case .fellBack: isOne ? "key pair fell back to its earlier state" : "key pairs fell back to their earlier state"
        case .destructions: isOne ? "scheduled destruction is another" : "scheduled destructions are others"
        case .exports: isOne ? "export of a private key is forgotten" : "exports of private keys are forgotten"
        case .certificates: isOne ? "certificate is not in it" : "certificates are not in it"
        case .rolls: isOne ? "roll fell back" : "rolls fell back"
        case .registrations: isOne ? "registration fell back" : "registrations fell back"
        case .merchants: isOne ? "merchant fell back" : "merchants fell back"
        }
    }
}
