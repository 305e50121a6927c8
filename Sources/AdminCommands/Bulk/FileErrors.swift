import StrictJSON

extension CommandFailure {
    /// How many errors of a file a message shows.
    static let shownFileErrors = 20

    /// The failure for a file with errors, because of which a bulk operation does nothing. The message has one line for
    /// each of the first ``shownFileErrors`` errors.
    ///
    /// - Parameters:
    ///   - errors: each begins with the line in the file, such as `line 5: …`.
    ///   - nothing: the operation that was not performed, such as `nothing was imported`.
    static func fileErrors(_ errors: [String], in path: String, _ nothing: String) -> CommandFailure {
        let more = errors.count - shownFileErrors
        let head = "\(nothing): \(path) has \(errors.count) error\(errors.count == 1 ? "" : "s")"
        return CommandFailure(
            .refused,
            ([head] + errors.prefix(shownFileErrors) + (more > 0 ? ["and \(more) more"] : [])).joined(separator: "\n"))
    }
}

extension Printer {
    /// Prints the result of the dry run of a bulk operation: with `--output json` a document on standard output,
    /// otherwise the text on standard error.
    func showDryRun(_ text: String, itemCount: Int) {
        switch format {
        case .table: note(text)
        case .json:
            json(
                .object(
                    JSONObject(members: [
                        .init(name: "dryRun", value: .bool(true)),
                        .init(name: "items", value: .number("\(itemCount)")),
                    ])))
        }
    }
}
