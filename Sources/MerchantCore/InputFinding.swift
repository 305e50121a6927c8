/// One fault or warning about the input of a request, with a code of its own.
package struct InputFinding: Hashable, Sendable {
    /// Stable, for programs, such as `markerNotCritical`.
    package let code: String
    /// What is wrong. Never holds a secret.
    package let message: String
    /// What to do.
    package let action: String

    package init(code: String, message: String, action: String) {
        self.code = code
        self.message = message
        self.action = action
    }
}
