/// The first page without a session: how to get one.
package struct SignInPage: HTMLPage {
    package let area = PageArea.entry
    package let template = PageTemplate.message

    package init() {}

    package func title(_ text: PageText) -> String { text[.signInTitle] }

    package func content(_ text: PageText) -> Any {
        var content = MessageContent(text[.signInTitle])
        content.paragraphs = [text[.signInBody], text[.signInAction]]
        content.command = MessageContent.Command(
            introduction: text[.signInOperators], text: MessageContent.consoleCommand)
        return content
    }
}

/// The answer to "Sign out".
package struct SignedOutPage: HTMLPage {
    package let area = PageArea.entry
    package let template = PageTemplate.message

    package init() {}

    package func title(_ text: PageText) -> String { text[.signedOutTitle] }

    package func content(_ text: PageText) -> Any {
        var content = MessageContent(text[.signedOutTitle])
        content.paragraphs = [text[.signedOutBody], text[.signInAction]]
        return content
    }
}

/// The answer to a request whose session has ended.
package struct SessionEndedPage: HTMLPage {
    /// What came after the end of the session.
    package enum Attempt: Sendable, CaseIterable {
        case page, form, upload
    }

    private let attempt: Attempt

    package let area = PageArea.entry
    package let template = PageTemplate.message
    package let isProblem = true
    package let status = 401

    package init(after attempt: Attempt) { self.attempt = attempt }

    package func title(_ text: PageText) -> String { text[.sessionEndedTitle] }

    package func content(_ text: PageText) -> Any {
        var content = MessageContent(text[.sessionEndedTitle])
        switch attempt {
        case .page: content.paragraphs = []
        case .form: content.paragraphs = [text[.sessionEndedForm]]
        case .upload: content.paragraphs = [text[.sessionEndedUpload]]
        }
        content.paragraphs += [text[.sessionEndedBody], text[.sessionEndedAction]]
        return content
    }
}
