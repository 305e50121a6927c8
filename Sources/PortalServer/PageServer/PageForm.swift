import HTTPKit
import HTTPTypes

/// The fields of a form that a browser sent.
struct PageForm: Sendable {
    /// A field with a file.
    struct File: Sendable {
        let bytes: [UInt8]
        /// The browser sends an empty name if the person chose no file.
        let name: String
    }

    private var values: [String: String] = [:]
    private var files: [String: File] = [:]
    /// The whole body, for the digest by which a form that is sent twice is recognized.
    let content: [UInt8]

    /// An empty form.
    init() { content = [] }

    /// - Returns: nil if the body is not a valid form of the type `application/x-www-form-urlencoded` or
    ///   `multipart/form-data`, or if a form of the first type is longer than ``FormLimits/fields``.
    init?(_ body: [UInt8], contentType: String?) {
        content = body
        let type = contentType ?? ""
        if type.lowercased().hasPrefix("application/x-www-form-urlencoded") {
            guard body.count <= FormLimits.fields, let fields = Self.urlencoded(body) else { return nil }
            values = fields
        } else if let boundary = Self.boundary(of: type) {
            guard let parts = MultipartBody.parts(of: body, boundary: boundary) else { return nil }
            for part in parts {
                if let fileName = part.fileName {
                    files[part.name] = File(bytes: part.content, name: fileName)
                } else {
                    values[part.name] = String(decoding: part.content, as: UTF8.self)
                }
            }
        } else {
            return nil
        }
    }

    subscript(name: String) -> String? { values[name] }

    func file(_ name: String) -> File? { files[name] }

    /// The text of a field without white space at both ends; empty if the form has no such field.
    func text(_ name: String) -> String {
        let text = values[name] ?? ""
        guard let first = text.firstIndex(where: { !$0.isWhitespace }),
            let last = text.lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(text[first...last])
    }

    private static func urlencoded(_ body: [UInt8]) -> [String: String]? {
        var values: [String: String] = [:]
        for pair in String(decoding: body, as: UTF8.self).split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decode(parts[0]), let value = decode(parts.count == 2 ? parts[1] : "") else { return nil }
            values[name] = value
        }
        return values
    }

    private static func decode(_ text: Substring) -> String? {
        PercentDecoding.decode(
            text.split(separator: "+", omittingEmptySubsequences: false).joined(separator: "%20")[...])
    }

    /// The parameter `boundary`, RFC 2046 section 5.1.1.
    private static func boundary(of contentType: String) -> String? {
        let parts = contentType.split(separator: ";")
        guard let type = parts.first, type.lowercased() == "multipart/form-data" else { return nil }
        for part in parts.dropFirst() {
            let pair = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, pair[0].lowercased() == "boundary" else { continue }
            let value = pair[1].first == "\"" ? pair[1].dropFirst().prefix { $0 != "\"" } : pair[1]
            return (1...70).contains(value.utf8.count) ? String(value) : nil
        }
        return nil
    }
}
