/// One JSON object in a text, up to its closing brace.
///
/// A log can contain line breaks inside a string, which JSON does not permit. This type removes them.
struct WrappedJSON {
    /// The object without the line breaks inside of strings, and without the blanks after each of these line breaks.
    private(set) var bytes: [UInt8] = []
    /// Whether a string contained a line break.
    private(set) var isWrapped = false
    /// Whether the text ends inside the object.
    private(set) var isTruncated = false
    /// The index after the object.
    private(set) var end: Int

    /// - Parameters:
    ///   - text: the whole text.
    ///   - start: the index of an opening brace.
    init(_ text: [UInt8], from start: Int) {
        end = text.count
        var depth = 0
        var isInString = false
        var index = start
        while index < text.count {
            let byte = text[index]
            if isInString {
                if byte == UInt8(ascii: "\\"), index + 1 < text.count, text[index + 1] >= 0x20 {
                    bytes.append(byte)
                    index += 1
                    bytes.append(text[index])
                } else if byte == 0x0A || byte == 0x0D {
                    isWrapped = true
                    // The blanks at the beginning of the next line belong to the log.
                    while index + 1 < text.count, Self.isBlank(text[index + 1]) { index += 1 }
                } else {
                    isInString = byte != UInt8(ascii: "\"")
                    bytes.append(byte)
                }
            } else {
                bytes.append(byte)
                switch byte {
                case UInt8(ascii: "\""): isInString = true
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
                default: break
                }
                if depth == 0 {
                    end = index + 1
                    return
                }
            }
            index += 1
        }
        isTruncated = true
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
}
