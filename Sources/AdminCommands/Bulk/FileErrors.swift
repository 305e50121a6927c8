import StrictJSON
import Vocabulary

extension CommandFailure {
    /// How many errors of a file one message lists at most.
    static let shownFileErrors = 20

    /// The failure of a bulk operation that changes nothing because its input file has errors. The message lists the
    /// first ``shownFileErrors`` errors, one on each line.
    ///
    /// - Parameters:
    ///   - errors: the errors, each beginning with its line, such as `line 5: …`.
    ///   - outcome: the beginning of the message, such as `nothing was imported`.
    static func fileErrors(_ errors: [String], in path: String, _ outcome: String) -> CommandFailure {
        let more = errors.count - shownFileErrors
        let head = "\(outcome): \(path) has \(errors.count.counted("error"))"
        return CommandFailure(
            .failed,
            ([head] + errors.prefix(shownFileErrors) + (more > 0 ? ["and \(more) more"] : [])).joined(separator: "\n"))
    }
}

extension Printer {
    /// Prints the result of the dry run of a bulk operation: with `--output json` a document on standard output,
    /// otherwise the text on standard error.
    ///
    /// - Parameters:
    ///   - itemCount: the number of items that the operation would change.
    ///   - failures: the items for which the operation would fail, in the JSON document only.
    func showDryRun(_ text: String, itemCount: Int, failures: [(item: String, reason: String)] = []) {
        switch format {
        // The text is the result of the command.
        case .table: alwaysNote(text)
        case .json:
            var members: [JSONObject.Member] = [
                .init(name: "dryRun", value: .bool(true)), .init(name: "items", value: .number("\(itemCount)")),
            ]
            if !failures.isEmpty {
                let list = failures.map { failure in
                    JSONValue.object(
                        JSONObject(members: [
                            .init(name: "item", value: .string(failure.item)),
                            .init(name: "failure", value: .string(failure.reason)),
                        ]))
                }
                members.append(.init(name: "failures", value: .array(list)))
            }
            json(.object(JSONObject(members: members)))
        }
    }
}
