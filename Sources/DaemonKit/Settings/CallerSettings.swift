import MerchantCore
import Vocabulary

/// `callers`: which users and groups have which permits. `whenUnset` is text for the settings reference, not a default
/// value.
extension CallerPolicy {
    /// - Returns: nil if the setting `callers` is missing.
    static func read(_ reader: SettingsReader) -> CallerPolicy? {
        reader.table("callers", whenUnset: "every permit except exportPrivateKey, for the daemon's user and root") {
            try rule($0, $1)
        }.map(CallerPolicy.init(rules:))
    }

    private static func rule(_ entry: SettingsReader, _ path: String) throws -> Rule {
        let uid = entry.optional(
            "uid", .userOrGroupNumber, whenUnset: "-", "The number of the user who gets the permits.")
        let gid = entry.optional(
            "gid", .userOrGroupNumber, whenUnset: "-",
            "The number of the group that gets the permits: a caller's primary group or a supplementary group.")
        let permits =
            entry.list(
                "permits", SettingFormat<Permit>.choice, whenUnset: "none", "The permits of the user or group.") ?? []
        let merchants = entry.list(
            "merchants", .merchantIdentifier, whenUnset: "all merchants",
            "The merchants for which the permits are valid.")
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
