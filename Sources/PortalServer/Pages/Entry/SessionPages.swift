/// The first page for a visitor without a session. It says how to sign in.
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

/// The page for a request that needs a session but has none, usually because the session has ended. It says how to sign
/// in again.
package struct SessionEndedPage: HTMLPage {
    /// The kind of request that was sent without a valid session.
    package enum Attempt: Sendable, CaseIterable {
        case page, form, upload
    }

    private let attempt: Attempt
    private let isForOperators: Bool

    package let area = PageArea.entry
    package let template = PageTemplate.message
    package let isProblem = true
    package let status = 401

    /// - Parameter isForOperators: whether the request was for a page of the operators. They sign in with a command.
    package init(after attempt: Attempt, isForOperators: Bool = false) {
        self.attempt = attempt
        self.isForOperators = isForOperators
    }

    package func title(_ text: PageText) -> String { text[.sessionEndedTitle] }

    package func content(_ text: PageText) -> Any {
        var content = MessageContent(text[.sessionEndedTitle])
        switch attempt {
        case .page: content.paragraphs = []
        case .form: content.paragraphs = [text[.sessionEndedForm]]
        case .upload: content.paragraphs = [text[.sessionEndedUpload]]
        }
        if isForOperators {
            content.paragraphs.append(text[.sessionEndedBodyOperators])
            content.command = MessageContent.Command(
                introduction: text[.sessionEndedActionOperators], text: MessageContent.consoleCommand)
        } else {
            content.paragraphs += [text[.sessionEndedBody], text[.sessionEndedAction]]
        }
        return content
    }
}
