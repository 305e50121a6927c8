import Foundation
import MerchantCore
import MerchantOperations
import PortalServer
import Testing

/// Checks that the program, the templates and `texts.json` fit together.
@Suite struct TextsTests {
    private let sources = PageTemplate.sources

    private func renderer(removing name: String) throws -> PageRenderer {
        var file = String(decoding: Texts.english, as: UTF8.self)
        let member = try #require(file.firstRange(of: "\"\(name)\": "))
        file.replaceSubrange(member, with: "\"\(name)X\": ")
        return try PageRenderer(texts: Array(file.utf8), templates: sources)
    }

    private func renderer(_ template: PageTemplate, _ source: String) throws -> PageRenderer {
        var sources = sources
        sources[template.rawValue] = source
        return try PageRenderer(texts: Texts.english, templates: sources)
    }

    @Test func `the pages need every text of the file`() throws {
        let names = try Texts(parsing: Texts.english).names
        var used = Set(Texts.namesInProgram.plain + Texts.namesInProgram.counted)
        for source in sources.values {
            for match in source.matches(of: /\{\{t\.([A-Za-z0-9.]+)\}\}/) { used.insert(String(match.1)) }
        }
        #expect(names.subtracting(used).sorted() == [], "these texts are not used")
        #expect(used.subtracting(names).sorted() == [], "these texts are missing")
    }

    @Test(arguments: ["skip", "copied", "thousandsSeparator", "daysLeft", "checkBody", "certificateStored"])
    func `a missing text is refused at start`(_ name: String) throws {
        #expect(throws: PageFault.self) { try renderer(removing: name) }
    }

    @Test(arguments: ["", "[]", "{\"site\": 1}", "{\"site\": {\"name\": \"\"}}", "{\"site\": {}", "{}"])
    func `an invalid file of texts is refused`(_ file: String) {
        #expect(throws: PageFault.self) { try PageRenderer(texts: Array(file.utf8), templates: sources) }
    }

    @Test func `a missing template is refused at start`() {
        for name in sources.keys {
            var sources = sources
            sources[name] = nil
            #expect(throws: PageFault.self) { try PageRenderer(texts: Texts.english, templates: sources) }
        }
    }

    @Test(arguments: [
        "{{{page.heading}}}", "{{&page.heading}}", "{{=<% %>=}}", "{{% CONTENT_TYPE:TEXT}}", "{{heading}}",
        "{{t.site.unknown}}", "{{t.site}}", "{{> unknown}}", "{{>*page.name}}", "{{#page.list}}", "{{page.heading",
        "{{uppercased(page.heading)}}", "{{! a comment}}",
    ])
    func `a template with a tag that is not permitted is refused at start`(_ source: String) {
        #expect(throws: PageFault.self) { try renderer(.message, source) }
    }

    @Test func `every name in a template is a value of a page`() throws {
        let text = PageText(try Texts(parsing: Texts.english), now: Sample.now)
        var labels: Set<String> = []
        for sample in PageSamples.all + PageSamples.long {
            Self.collectLabels(of: sample.page.content(text), into: &labels)
        }
        labels.formUnion(Self.frameNames)
        for (template, source) in sources {
            for match in source.matches(of: /\{\{[#^]?(?:page|site)?\.([A-Za-z0-9.]+)\}\}/) {
                for name in match.1.split(separator: ".") {
                    #expect(labels.contains(String(name)), "\(name) in \(template)")
                }
            }
        }
        // A value with one of these names would hide the texts, the page or the frame in the sections inside of it.
        #expect(labels.isDisjoint(with: ["t", "page", "site"]))
    }

    /// Texts that state a limit, each with this limit.
    static let limits: [(String, String)] = [
        ("invitation.once", "\(PortalSession.longestLife.components.seconds / 3600) hours"),
        ("invitation.once", "\(PortalSession.idleLimit.components.seconds / 60) minutes"),
        ("sessionEnded.body", "\(PortalSession.longestLife.components.seconds / 3600) hours"),
        ("sessionEnded.body", "\(PortalSession.idleLimit.components.seconds / 60) minutes"),
        ("sessionEnded.bodyOperators", "\(PortalSession.longestLife.components.seconds / 3600) hours"),
        ("sessionEnded.bodyOperators", "\(PortalSession.idleLimit.components.seconds / 60) minutes"),
        ("loginRefused.body", "\(OperatorLogin.life.components.seconds) seconds"),
        ("newInvitation.noteHint", "\(Invitation.longestNote) bytes"),
        ("newInvitation.tooMany", "\(InvitationOperations.maximumOpen) open"),
        ("search.tooShort", "\(SearchPage.shortestQuery) characters"),
        ("search.hint", "\(SearchPage.shortestQuery) characters"),
    ]

    @Test(arguments: TextsTests.limits)
    func `a limit in a text is the limit of the program`(_ name: String, _ limit: String) throws {
        var value = try JSONSerialization.jsonObject(with: Data(Texts.english))
        for part in name.split(separator: ".") {
            let group = try #require(value as? [String: Any])
            value = try #require(group[String(part)])
        }
        let text = try #require(value as? String)
        #expect(text.contains(limit))
    }

    /// The values of the frame of every page.
    private static let frameNames: Set<String> = [
        "csrf", "hasNavigation", "home", "icon", "idempotencyKey", "isCurrent", "isSandbox", "name", "navigation",
        "script", "signOut", "signOutToken", "styleSheet", "title", "visitor",
    ]

    private static func collectLabels(of value: Any, into labels: inout Set<String>) {
        let mirror = Mirror(reflecting: value)
        // Lists of 1,000 equal rows add nothing after the first ones.
        for child in mirror.children.prefix(40) {
            if let label = child.label, mirror.displayStyle == .struct { labels.insert(label) }
            if !(child.value is String) { collectLabels(of: child.value, into: &labels) }
        }
    }
}
