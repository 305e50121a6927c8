import ArgumentParser

extension CommandConfiguration {
    /// The configuration of a command whose help ends with examples.
    ///
    /// - Parameter examples: command lines without the name of the program, such as `key show aXryfzzh`. A test runs
    ///   each of them, except those that run `merchantkeyd`.
    init(commandName: String, abstract: String, discussion: String = "", examples: [String]) {
        let lines = examples.map { "  merchantkeyctl \($0)" }
        let heading = examples.count == 1 ? "Example:" : "Examples:"
        let paragraphs = (discussion.isEmpty ? [] : [discussion]) + [([heading] + lines).joined(separator: "\n")]
        self.init(commandName: commandName, abstract: abstract, discussion: paragraphs.joined(separator: "\n\n"))
    }
}
