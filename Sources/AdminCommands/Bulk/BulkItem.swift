import FoundationEssentials
import Vocabulary

/// One of the many things that a bulk operation processes.
protocol BulkItem: Sendable {
    /// What people call it, the same in every run: an identifier, a file's name.
    var name: String { get }
    /// Changes with what is asked for: an item with other content is another item.
    var content: String { get }
    /// Where it stands in its file, such as `line 5`.
    var place: String? { get }
}

/// What became of one item.
enum BulkOutcome: Hashable, Sendable {
    /// With what is worth having in the report, by name.
    case done([String: String])
    /// The daemon had it already as asked.
    case unchanged([String: String])
    /// The daemon's code where it said no, and why in one sentence.
    case failed(code: String? = nil, String)
}

/// One line of a report.
struct BulkRecord: Codable, Hashable, Sendable {
    enum Outcome: String, Codable, Sendable {
        case done, unchanged, failed
    }

    let item: String
    let content: String
    let place: String?
    let outcome: Outcome
    /// What the daemon called it, where it refused.
    let code: String?
    /// Why it failed.
    let detail: String?
    let result: [String: String]?
    /// When it was written, RFC 3339.
    let at: String?

    init(_ item: some BulkItem, _ outcome: BulkOutcome) {
        self.item = item.name
        content = item.content
        place = item.place
        at = Timestamp(Date()).rfc3339
        switch outcome {
        case .done(let result):
            (self.outcome, self.result, code, detail) = (.done, result.isEmpty ? nil : result, nil, nil)
        case .unchanged(let result):
            (self.outcome, self.result, code, detail) = (.unchanged, result.isEmpty ? nil : result, nil, nil)
        case .failed(let code, let why):
            (self.outcome, result, self.code, detail) = (.failed, nil, code, why)
        }
    }
}
