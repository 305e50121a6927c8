import MerchantCore
import Vocabulary

/// `callers`: which users and groups have which permits.
extension CallerPolicy {
    /// - Returns: nil if the setting `callers` is missing, or if one of its entries is wrong.
    static func read(_ reader: SettingsReader) -> CallerPolicy? {
        reader.table("callers", whenUnset: "every permit except exportPrivateKey, for the daemon's user and root") {
            try rule($0, $1)
        }.map(CallerPolicy.init(rules:))
    }

    private static func rule(_ entry: SettingsReader, _ path: String) throws -> Rule {
        let uid = entry.optional(
            "uid", .userOrGroupID, whenUnset: SettingInForce.noValue, "The ID of the user who gets the permits.")
        let gid = entry.optional(
            "gid", .userOrGroupID, whenUnset: SettingInForce.noValue,
            "The ID of the group that gets the permits: a caller's primary group or a supplementary group.")
        let user = entry.optional(
            "user", .text, whenUnset: SettingInForce.noValue,
            "The name of the user who gets the permits, instead of uid. It is looked up at the start and at each reload."
        )
        let group = entry.optional(
            "group", .text, whenUnset: SettingInForce.noValue,
            "The name of the group that gets the permits, instead of gid. It is looked up at the start and at each reload."
        )
        let permits =
            entry.list(
                "permits", SettingFormat<Permit>.choice, whenUnset: "none", "The permits of the user or group.") ?? []
        let merchants = entry.list(
            "merchants", .merchantIdentifier, whenUnset: "all merchants",
            "The merchants for which the permits are valid.")
        let named = [
            uid.map { _ in "uid" }, gid.map { _ in "gid" }, user.map { _ in "user" }, group.map { _ in "group" },
        ].compactMap(\.self)
        // A wrong name is reported even if another field is wrong too.
        let uidOfUser = user.flatMap { user in
            entry.collect { try SystemAccount.uid(ofUser: user, setting: entry.path("user")) }
        }
        let gidOfGroup = group.flatMap { group in
            entry.collect { try SystemAccount.gid(ofGroup: group, setting: entry.path("group")) }
        }
        let subject: Rule.Subject? =
            if let uid = uid ?? uidOfUser { .uid(uid) } else { (gid ?? gidOfGroup).map { .gid($0) } }
        guard named.count == 1 else {
            let problem =
                "'\(path)' has \(named.isEmpty ? "none" : named.joined(separator: " and ")) of uid, gid, user and group, expected one of them"
            // If no field has a value, a field with a wrong value may be the reason. ``SettingsReader/collect(_:)``
            // then ignores this error, because the wrong value is already recorded.
            if named.isEmpty { throw SettingsError(problem) }
            entry.record(problem)
            throw SettingsReader.ProblemsRecorded()
        }
        guard let subject else { throw SettingsReader.ProblemsRecorded() }
        return Rule(subject: subject, grant: Grant(permits: Set(permits), merchants: merchants.map(Set.init)))
    }
}
