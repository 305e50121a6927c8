/// The page that an operator's login link shows. Only its button begins a session.
package struct LoginPage: HTMLPage {
    private let path: String

    package let area = PageArea.entry
    package let template = PageTemplate.message

    /// - Parameter path: the path of the link, to which the button posts.
    package init(path: String) { self.path = path }

    package func title(_ text: PageText) -> String { text[.loginTitle] }

    package func content(_ text: PageText) -> Any {
        var content = MessageContent(text[.loginTitle])
        content.paragraphs = [text[.loginBody]]
        content.form = MessageContent.Form(path: path, button: text[.loginButton])
        return content
    }
}

/// The page for a login link that is used, expired or unknown. The page does not say which of these is true.
package struct LoginRefusedPage: HTMLPage {
    package let area = PageArea.entry
    package let template = PageTemplate.message
    package let isProblem = true
    package let status = 404

    package init() {}

    package func title(_ text: PageText) -> String { text[.loginRefusedTitle] }

    package func content(_ text: PageText) -> Any {
        var content = MessageContent(text[.loginRefusedTitle])
        content.paragraphs = [text[.loginRefusedBody]]
        content.command = MessageContent.Command(
            introduction: text[.loginRefusedAction], text: MessageContent.consoleCommand)
        return content
    }
}
