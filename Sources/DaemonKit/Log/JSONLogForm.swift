/// A JSON object (RFC 8259). All values are strings.
///
/// For example: `{"time":"2026-11-22T10:15:00Z","level":"warning","message":"request forbidden","uid":"1001"}`.
struct JSONLogForm: LogForm {
    func line(_ fields: [LogField]) -> String {
        let members = fields.map { "\(Self.string($0.name)):\(Self.string($0.value))" }
        return "{" + members.joined(separator: ",") + "}"
    }

    private static func string(_ text: String) -> String {
        text.quoted { String($0).utf16.map(escape).joined() }
    }

    /// A character beyond the first 65,536 has two escapes, one for each UTF-16 code unit.
    private static func escape(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
