/// Finds values by their names in a text that is not valid JSON: JSON that was cut, or a dictionary as Objective-C
/// prints it (`ephemeralPublicKey = "BG…";`).
struct NamedValueScan {
    /// The last value of each name.
    private(set) var values: [InspectedName: String] = [:]
    /// The names whose values are cut off by the end of the text.
    private(set) var truncated: [InspectedName] = []
    private let text: [UInt8]

    init(_ text: [UInt8]) {
        self.text = text
        for (name, value) in InspectedName.searched where values[value] == nil {
            scan(Array(name.utf8), value)
        }
    }

    private mutating func scan(_ name: [UInt8], _ value: InspectedName) {
        var rest = text[...]
        while let range = rest.firstRange(of: name) {
            rest = text[range.upperBound...]
            let isWholeWord = range.lowerBound == 0 || !Self.isLetterOrDigit(text[range.lowerBound - 1])
            guard isWholeWord, let found = valueAfterName(range.upperBound) else { continue }
            values[value] = String(decoding: found.bytes, as: UTF8.self)
            truncated.removeAll { $0 == value }
            if found.isTruncated { truncated.append(value) }
        }
    }

    /// Reads the value after a name: `" : "value"`, `= value;`, `= <04ab cd>` or `= {length = 65, …}`.
    private func valueAfterName(_ start: Int) -> (bytes: ArraySlice<UInt8>, isTruncated: Bool)? {
        var index = start
        skip(&index) { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") || Self.isBlank($0) }
        guard index < text.count, text[index] == UInt8(ascii: ":") || text[index] == UInt8(ascii: "=") else {
            return nil
        }
        index += 1
        skip(&index) { $0 == UInt8(ascii: "\\") || Self.isBlank($0) }
        guard index < text.count else { return nil }
        switch text[index] {
        case UInt8(ascii: "\""): return quoted(index + 1)
        case UInt8(ascii: "<"): return enclosed(index, by: UInt8(ascii: ">"))
        case UInt8(ascii: "{"): return enclosed(index, by: UInt8(ascii: "}"))
        case UInt8(ascii: "["): return nil
        default: return plain(index)
        }
    }

    private func quoted(_ start: Int) -> (bytes: ArraySlice<UInt8>, isTruncated: Bool) {
        guard let end = text[start...].firstIndex(of: UInt8(ascii: "\"")) else { return (text[start...], true) }
        // In JSON inside a string, a backslash precedes the closing quote.
        let isEscaped = end > start && text[end - 1] == UInt8(ascii: "\\")
        return (text[start..<(isEscaped ? end - 1 : end)], false)
    }

    private func enclosed(_ start: Int, by close: UInt8) -> (bytes: ArraySlice<UInt8>, isTruncated: Bool) {
        guard let end = text[start...].firstIndex(of: close) else { return (text[start...], true) }
        return (text[start...end], false)
    }

    private func plain(_ start: Int) -> (bytes: ArraySlice<UInt8>, isTruncated: Bool)? {
        let value = text[start...].prefix { !Self.isEnd($0) }
        guard !value.isEmpty else { return nil }
        return (value, false)
    }

    private func skip(_ index: inout Int, while isSkipped: (UInt8) -> Bool) {
        while index < text.count, isSkipped(text[index]) { index += 1 }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    private static func isEnd(_ byte: UInt8) -> Bool {
        isBlank(byte) || byte == UInt8(ascii: ";") || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}")
    }
}
