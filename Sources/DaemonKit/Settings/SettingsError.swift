/// Why the daemon or a subcommand cannot run with its settings and files.
package struct SettingsError: Error, CustomStringConvertible {
    /// At least one problem. Each problem says what failed, why, and what to do.
    package let problems: [String]

    package init(_ problem: String) { problems = [problem] }

    /// - Parameter problems: at least one.
    package init(problems: [String]) { self.problems = problems }

    /// One line for each problem.
    package var description: String { problems.joined(separator: "\n") }
}
