import Mustache
package import NIOCore

/// Renders the pages of the portal. Create one renderer at start, because the initializer reads all texts and compiles
/// all templates.
///
/// Everything that a template shows is escaped for HTML, because no template may contain a tag without escaping
/// (``TemplateRules``).
package struct PageRenderer: Sendable {
    private let library: MustacheLibrary
    private let texts: Texts

    /// - Throws: ``PageFault`` if a text or a template is missing or invalid.
    package init() throws {
        try self.init(texts: Texts.english, templates: PageTemplate.sources)
    }

    /// - Parameters:
    ///   - textFile: the content of `texts.json`.
    ///   - templates: the templates by name.
    package init(texts textFile: [UInt8], templates: [String: String]) throws {
        let texts = try Texts(parsing: textFile)
        try texts.checkComplete()
        try TemplateRules.check(templates, texts)
        PageEscaping.register()
        var library = MustacheLibrary()
        for (name, source) in templates {
            do {
                try library.register(PageEscaping.applied(to: source), named: name)
            } catch {
                throw PageFault("the template '\(name)' cannot be compiled: \(error)")
            }
        }
        self.texts = texts
        self.library = library
    }

    /// Renders a page as an HTML document in UTF-8.
    package func render(_ page: some HTMLPage, in context: PageContext) -> ByteBuffer {
        let text = PageText(texts, now: context.now)
        let root: [String: Any] = [
            "t": texts.tree, "site": SiteContent(page, in: context, text), "page": page.content(text),
        ]
        // Every template of `PageTemplate` is in the library, because `TemplateRules` checked this at start.
        return ByteBuffer(string: library.render(root, withTemplate: page.template.rawValue) ?? "")
    }
}
