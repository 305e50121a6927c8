/// A message at the top of a page, or beside the form that it is about.
struct AlertContent {
    /// The suffix of the CSS class: `error` or `success`.
    let kind: String
    let id: String
    let role: String
    /// Whether the page begins with the focus on the message, so that nobody misses it.
    let takesFocus: Bool
    let title: String
    let paragraphs: [String]
    let requestId: String?
    /// The heading level of the title if the message is inside a section; nil at the top of a page.
    var level: String?

    /// The same message for a section of the page.
    ///
    /// - Parameter level: one more than the level of the section's heading.
    func nested(level: Int) -> AlertContent {
        var alert = self
        alert.level = String(level)
        return alert
    }

    static let identifier = "alert"

    static func success(_ title: String, _ paragraphs: [String]) -> AlertContent {
        AlertContent(
            kind: "success", id: identifier, role: "status", takesFocus: true, title: title, paragraphs: paragraphs,
            requestId: nil)
    }

    static func problem(_ title: String, _ paragraphs: [String], requestId: String?) -> AlertContent {
        AlertContent(
            kind: "error", id: identifier, role: "alert", takesFocus: true, title: title, paragraphs: paragraphs,
            requestId: requestId)
    }
}
