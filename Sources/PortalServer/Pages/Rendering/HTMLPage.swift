/// A page of the portal: its values, and the template that shows them.
///
/// A page has no text of its own. All texts come from `texts.json` through ``PageText``.
package protocol HTMLPage: Sendable {
    /// The HTTP status with which the page is sent.
    var status: Int { get }
    /// The entry of the navigation that is marked as the current one.
    var area: PageArea { get }
    /// Whether the page reports a problem. Its title then says so, because screen readers read the title first.
    var isProblem: Bool { get }
    var template: PageTemplate { get }
    /// The page's name in the browser's title bar.
    func title(_ text: PageText) -> String
    /// The values that the template shows under the name `page`: a struct whose stored properties have the names that
    /// the template uses.
    func content(_ text: PageText) -> Any
}

extension HTMLPage {
    package var status: Int { 200 }
    package var isProblem: Bool { false }
}

/// The part of the portal that a page belongs to.
package enum PageArea: String, Sendable, CaseIterable {
    /// Pages outside of the navigation, such as an error.
    case entry
    // For people at a merchant.
    case home, keys, domains
    // For operators.
    case fleet, search, invitations
}

/// Why the pages cannot be rendered: a text or a template is missing or invalid. Only an incorrect build can cause
/// this error.
package struct PageFault: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
