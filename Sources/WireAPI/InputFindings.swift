/// One fault or warning about the input of a request.
package struct InputFindingDocument: Codable, Hashable, Sendable {
    /// A stable code for programs, such as `markerNotCritical`.
    package let code: String
    /// What is wrong. Never contains a secret.
    package let message: String
    /// What to do.
    package let action: String

    package init(code: String, message: String, action: String) {
        (self.code, self.message, self.action) = (code, message, action)
    }
}
