/// `audit.head`: where the audit's head is shipped, outside the database.
package struct AuditHeadSettings: Sendable, Hashable {
    /// Nil: heads are not shipped to a file.
    package let file: String?
    /// The socket of the local syslog daemon; nil: heads are not sent to it.
    package let syslog: String?
    /// How often the head is shipped to the file and to syslog.
    package let every: Duration
    /// How often an `auditHead` event is stored; nil: never.
    package let eventEvery: Duration?

    init(reading reader: SettingsReader) throws {
        file = try reader.optional(
            "audit.head.file", .absolutePath, whenUnset: "none",
            "A file that each head is appended to, and that each start compares with the database.")
        syslog = try reader.optional(
            "audit.head.syslog", .absolutePath, whenUnset: "none",
            "The socket of the local syslog daemon, to which each head is sent.")
        every = try reader.value(
            "audit.head.every", .interval, default: "60s", "How often the head is shipped, if it changed.")
        eventEvery = try reader.optional(
            "audit.head.event-every", .interval, whenUnset: "no events",
            "How often an auditHead event reports the head, if it changed.")
    }
}

extension SettingFormat where Value == Duration {
    static var interval: Self { duration(inSeconds: 1...31_536_000, from: "1s", to: "365d") }
}
