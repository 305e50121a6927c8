/// `audit.head`: where the daemon sends the audit head, the number and hash of the last audit record.
package struct AuditHeadSettings: Sendable, Hashable {
    /// The file to which heads are appended; nil: none.
    package let file: String?
    /// The socket of the local syslog daemon; nil: heads are not sent to syslog.
    package let syslog: String?
    /// How often the head is sent to the file and to syslog, if it has changed.
    package let interval: Duration
    /// How often an `auditHead` event is stored, if the head has changed; nil: never.
    package let eventInterval: Duration?

    init(reading reader: SettingsReader) {
        file = reader.optional(
            "audit.head.file", .absolutePath, whenUnset: "none",
            "The file to which the daemon appends audit heads. A start compares the database with the last head.")
        syslog = reader.optional(
            "audit.head.syslog", .absolutePath, whenUnset: "none",
            "The socket of the local syslog daemon to which the daemon sends the audit head.")
        interval = reader.value(
            "audit.head.every", .interval, default: "60s",
            "How often the daemon sends the audit head to the file and to syslog, if the head has changed.")
        eventInterval = reader.optional(
            "audit.head.event-every", .interval, whenUnset: "no events",
            "How often the daemon raises the event auditHead, if the head has changed.")
    }
}

extension SettingFormat where Value == Duration {
    static var interval: Self { duration(inSeconds: 1...31_536_000, from: "1s", to: "365d") }
}
