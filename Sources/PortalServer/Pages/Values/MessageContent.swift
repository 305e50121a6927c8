/// A page with a short message and at most one action: a command, a form or a link.
struct MessageContent {
    struct Command {
        let introduction: String
        let text: String
    }

    struct Form {
        let path: String
        let button: String
    }

    struct Link {
        let path: String
        let label: String
    }

    let heading: String
    var lead: String?
    var paragraphs: [String] = []
    var command: Command?
    var form: Form?
    var link: Link?
    var requestId: String?

    /// The command that prints a login link for operators. A command is the same in every language.
    static let consoleCommand = "merchantkeyctl console"

    init(_ heading: String) { self.heading = heading }

    static func home(_ text: PageText) -> Link { Link(path: PortalPaths.home, label: text[.errorHome]) }
}
