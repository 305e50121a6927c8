/// The rules for templates, which are checked at start.
///
/// - No tag writes a value without escaping, and none changes the delimiters or the content type.
/// - A tag names a text (`t.`), a value of the page (`page.`) or of the frame (`site.`), or a value of the innermost
///   section (a leading dot). Any other name would be searched in all enclosing sections, and could find a value that
///   was not meant.
/// - Every text and every template that a tag names exists. Mustache itself would render nothing in its place.
enum TemplateRules {
    static func check(_ templates: [String: String], _ texts: Texts) throws {
        for template in PageTemplate.allCases where templates[template.rawValue] == nil {
            throw PageFault("there is no template '\(template.rawValue)'")
        }
        for (name, source) in templates.sorted(by: { $0.key < $1.key }) {
            for tag in try tags(of: source, named: name) {
                try check(tag, of: name, templates, texts)
            }
        }
    }

    /// What stands between the delimiters of each tag.
    private static func tags(of source: String, named name: String) throws -> [String] {
        try source.split(separator: "{{", omittingEmptySubsequences: false).dropFirst().map { piece -> String in
            let parts = piece.split(separator: "}}", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let content = parts.first else {
                throw PageFault("the template '\(name)' has a tag without an end")
            }
            return String(content.filter { $0 != " " })
        }
    }

    private static func check(
        _ tag: String, of template: String, _ templates: [String: String], _ texts: Texts
    ) throws {
        let name = String(tag.dropFirst())
        switch tag.first {
        case "#", "^": try checkReference(name, of: template, texts)
        case ">", "<":
            guard templates[name] != nil else {
                throw PageFault("the template '\(template)' names the template '\(name)', which does not exist")
            }
        // The end of a section, and a block of the layout. The compiler of the templates checks them.
        case "/", "$": break
        default: try checkReference(tag, of: template, texts)
        }
    }

    private static func checkReference(_ name: String, of template: String, _ texts: Texts) throws {
        guard name.utf8.allSatisfy(isNameByte) else {
            throw PageFault("the template '\(template)' has the tag '\(name)', expected a tag that escapes its value")
        }
        if name.hasPrefix("t.") {
            guard texts.hasPlainText(String(name.dropFirst(2))) else {
                throw PageFault(
                    "the template '\(template)' names the text '\(name.dropFirst(2))', which does not exist")
            }
            return
        }
        guard name.hasPrefix(".") || name.hasPrefix("page.") || name.hasPrefix("site.") else {
            throw PageFault(
                "the template '\(template)' has the tag '\(name)', expected t., page., site. or a leading dot")
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
