import Mustache

/// Escapes the values that templates show, for text and for attributes in quotation marks.
///
/// swift-mustache's own escaping compares whole characters. It misses a `<` that forms one character with a combining
/// mark, although a browser reads the `<` as the beginning of a tag. This type compares Unicode scalars.
struct PageEscaping: MustacheContentType {
    /// The name of this content type in templates.
    private static let name = "PORTAL"

    /// Registers the content type with swift-mustache. Call this before templates are compiled.
    static func register() { MustacheContentTypes.register(PageEscaping(), named: name) }

    /// The source of a template that uses this content type. Every template needs it: swift-mustache returns to its own
    /// escaping in each partial.
    static func applied(to source: String) -> String { "{{% CONTENT_TYPE:\(name)}}" + source }

    func escapeText(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
            case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
            case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
            case "\"": escaped.append(contentsOf: "&quot;".unicodeScalars)
            case "'": escaped.append(contentsOf: "&#39;".unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}
