import FoundationEssentials
import Vocabulary

/// The error of a subcommand as JSON, in the form in which `merchantkeyctl --output json` prints its own errors.
struct SubcommandFailure: Encodable {
    private struct Failure: Encodable {
        let code: String
        let detail: String
        let exitStatus: Int32
    }

    private let error: Failure

    /// - Parameter problems: at least one.
    init(_ problems: [String], code: String, exitStatus: Int32) {
        error = Failure(code: code, detail: problems.joined(separator: "; "), exitStatus: exitStatus)
    }

    /// On one line, without a line feed.
    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // The encoder fails only for numbers that JSON does not have.
        guard let data = try? encoder.encode(self) else { return "{}" }
        return String(decoding: data, as: UTF8.self).printable(keepingLines: false)
    }
}
