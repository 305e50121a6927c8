import MerchantCore
import Vocabulary

/// `callers`: which users and groups may do what.
extension CallerPolicy {
    /// - Returns: nil if the file has no `callers`.
    static func read(_ reader: SettingsReader) throws -> CallerPolicy? {
        try reader.table("callers") { entry, path in try rule(entry, path) }.map(CallerPolicy.init(rules:))
    }

    private static func rule(_ entry: SettingsReader, _ path: String) throws -> Rule {
        let uid = try entry.optional("uid", .identifier, whenUnset: "-", "The user that the entry is for.")
        let gid = try entry.optional(
            "gid", .identifier, whenUnset: "-", "The group that the entry is for, primary or supplementary.")
        let permits =
            try entry.list(
                "permits", SettingFormat<Permit>.choice, whenUnset: "none", "What the user or group may do.") ?? []
        let merchants = try entry.list(
            "merchants", .merchantIdentifier, whenUnset: "all merchants", "The merchants that the permits are for.")
        let subject: Rule.Subject
        switch (uid, gid) {
        case (let uid?, nil): subject = .uid(uid)
        case (nil, let gid?): subject = .gid(gid)
        default:
            throw SettingsError(
                "'\(path)' has \(uid == nil ? "neither uid nor gid" : "both uid and gid"), expected one of them")
        }
        return Rule(subject: subject, grant: Grant(permits: Set(permits), merchants: merchants.map(Set.init)))
    }
}
