/// `name=value` pairs (logfmt).
///
/// For example: `time=2026-11-22T10:15:00Z level=warning message="request forbidden" code=forbidden uid=1001`.
struct LogfmtForm: LogForm {
    func line(_ fields: [LogField]) -> String {
        fields.map { "\($0.name)=\(Self.value($0.value))" }.joined(separator: " ")
    }

    /// Returns the text unchanged if it is not empty and contains only ASCII letters, digits and ``punctuation``.
    /// Otherwise returns it in quotes, with escapes such as `\"`, `\n` and `\u{7f}`.
    private static func value(_ text: String) -> String {
        guard text.isEmpty || !text.utf8.allSatisfy(needsNoQuotes) else { return text }
        return text.quoted { "\\u{\(String($0.value, radix: 16))}" }
    }

    private static func needsNoQuotes(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: punctuation.contains(byte)
        }
    }

    private static let punctuation = Array("-._/:@%+,".utf8)
}
