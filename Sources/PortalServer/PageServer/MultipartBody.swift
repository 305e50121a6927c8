/// Reads a body of the type `multipart/form-data`, RFC 7578.
enum MultipartBody {
    struct Part: Sendable {
        let name: String
        /// nil for a field that is not a file.
        let fileName: String?
        let content: [UInt8]
    }

    /// The largest number of fields of a form.
    private static let maximumParts = 16
    /// The longest header of one field, in bytes.
    private static let longestHeader = 1024

    /// - Returns: nil if the body is malformed.
    static func parts(of body: [UInt8], boundary: String) -> [Part]? {
        let delimiter = Array("\r\n--\(boundary)".utf8)
        // The first delimiter has no line break before it, so one is added.
        let text = [13, 10] + body
        var position = 0
        var parts: [Part] = []
        guard text.starts(with: delimiter) else { return nil }
        position = delimiter.count
        while parts.count <= maximumParts {
            let rest = text[position...]
            if rest.starts(with: [45, 45]) { return parts }
            guard rest.starts(with: [13, 10]), let end = find(delimiter, in: text, from: position),
                let part = part(text[(position + 2)..<end])
            else { return nil }
            parts.append(part)
            position = end + delimiter.count
        }
        return nil
    }

    private static func part(_ bytes: ArraySlice<UInt8>) -> Part? {
        let separator: [UInt8] = [13, 10, 13, 10]
        let head = Array(bytes.prefix(longestHeader))
        guard let end = find(separator, in: head, from: 0) else { return nil }
        let content = Array(bytes.dropFirst(end + separator.count))
        for line in String(decoding: head[..<end], as: UTF8.self).split(separator: "\r\n") {
            let field = line.split(separator: ":", maxSplits: 1)
            guard field.count == 2, field[0].lowercased() == "content-disposition" else { continue }
            guard let name = parameter("name", of: field[1]) else { return nil }
            return Part(name: name, fileName: parameter("filename", of: field[1]), content: content)
        }
        return nil
    }

    /// Browsers quote the value, and write a quotation mark in it as `%22`.
    private static func parameter(_ name: String, of value: Substring) -> String? {
        for part in value.split(separator: ";").dropFirst() {
            let pair = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, pair[0].lowercased() == name else { continue }
            guard pair[1].first == "\"" else { return String(pair[1]) }
            return String(pair[1].dropFirst().prefix { $0 != "\"" })
        }
        return nil
    }

    /// The index at which a pattern begins; nil if the text does not contain it. Every pattern begins with a line
    /// break, so most comparisons end after the first byte.
    private static func find(_ pattern: [UInt8], in text: [UInt8], from start: Int) -> Int? {
        guard let first = pattern.first, text.count >= pattern.count else { return nil }
        var index = start
        while index <= text.count - pattern.count {
            if text[index] == first, text[index..<(index + pattern.count)].elementsEqual(pattern) { return index }
            index += 1
        }
        return nil
    }
}
