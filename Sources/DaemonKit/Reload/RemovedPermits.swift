import MerchantCore
import Vocabulary

/// The permits that the setting `callers` gives now, and that a changed setting no longer gives, by user and group.
///
/// A reload that is refused names them, because an operator who withdraws a permit must know that it is still in force.
struct RemovedPermits: Sendable {
    /// How many users and groups the text names at most.
    static let maximumListed = 20

    /// One text for each user or group that loses a permit, in the order of the setting in force.
    private let entries: [String]

    init(from former: CallerPolicy, to next: CallerPolicy) {
        var subjects: [CallerPolicy.Rule.Subject] = []
        for rule in former.rules where !subjects.contains(rule.subject) { subjects.append(rule.subject) }
        entries = subjects.compactMap { subject in
            let (old, new) = (former.grants(of: subject), next.grants(of: subject))
            let withdrawn = Permit.allCases.compactMap { Self.text(of: $0, old, new) }
            return withdrawn.isEmpty ? nil : "\(subject.name): \(withdrawn.joined(separator: ", "))"
        }
    }

    /// nil if no permit is withdrawn.
    var text: String? {
        guard !entries.isEmpty else { return nil }
        let more = entries.count - Self.maximumListed
        return entries.prefix(Self.maximumListed).joined(separator: "; ") + (more > 0 ? "; and \(more) more" : "")
    }

    /// - Returns: nil if `new` gives the permit for all merchants for which `old` gives it.
    private static func text(of permit: Permit, _ old: [Grant], _ new: [Grant]) -> String? {
        guard old.allow(permit), !new.allowsEveryMerchant(permit) else { return nil }
        guard !old.allowsEveryMerchant(permit) else { return permit.rawValue }
        let merchants = old.merchants(permit).subtracting(new.merchants(permit)).map(\.rawValue).sorted()
        guard !merchants.isEmpty else { return nil }
        return "\(permit.rawValue) (\(merchants.joined(separator: ", ")))"
    }
}

extension CallerPolicy {
    fileprivate func grants(of subject: Rule.Subject) -> [Grant] { rules.filter { $0.subject == subject }.map(\.grant) }

    /// The setting `callers` of settings whose other parts may have faults.
    ///
    /// - Returns: nil if the file cannot be read, or if `callers` itself has a fault.
    static func readAlone(from source: SettingsSource, ownUID: UInt32) -> CallerPolicy? {
        var file: SettingsFile?
        if let path = source.file {
            guard let found = try? SettingsFile(readingFrom: path), !found.groupsWithProblems.contains("callers") else {
                return nil
            }
            file = found
        }
        let reader = SettingsReader(file, environment: source.variables)
        let policy = read(reader)
        return reader.problems.isEmpty ? policy ?? .standard(ownUID: ownUID) : nil
    }
}

extension CallerPolicy.Rule.Subject {
    fileprivate var name: String {
        switch self {
        case .uid(let uid): "uid \(uid)"
        case .gid(let gid): "gid \(gid)"
        }
    }
}
