import FoundationEssentials
import Vocabulary

/// One item of a bulk operation, such as a line of a CSV file or a certificate file.
protocol BulkItem: Sendable {
    /// The name of the item in output and in the report, such as an identifier or a file's name. An item has the same
    /// name in every run.
    var name: String { get }
    /// A text that changes if the item requests something else, such as the fields of a line or the hash of a file. A
    /// run compares this text with the report of the earlier runs: if the text has changed, the run handles the item as
    /// a new item.
    var content: String { get }
    /// The item's place in the input file, such as `line 5`; nil if the items are not lines of an input file.
    var place: String? { get }
}

/// The result of one item.
enum BulkOutcome: Hashable, Sendable {
    /// The item succeeded, and something was changed. The dictionary contains details for the report.
    case done([String: String])
    /// Nothing was changed, because what the item requests existed already. The dictionary contains details for the
    /// report.
    case unchanged([String: String])
    /// The item failed. `code` is the code of the daemon's refusal; nil if the daemon did not refuse the item. The text
    /// is the reason.
    case failed(code: String? = nil, String)
}

/// One line of a report: the result of one item.
struct BulkRecord: Codable, Hashable, Sendable {
    enum Outcome: String, Codable, Sendable {
        case done, unchanged, failed
    }

    /// ``BulkItem/name``. The next two properties are ``BulkItem/content`` and ``BulkItem/place``.
    let item: String
    let content: String
    let place: String?
    let outcome: Outcome
    /// The code of the daemon's refusal; nil if the daemon did not refuse the item.
    let code: String?
    /// Why the item failed; nil if it did not fail.
    let detail: String?
    /// Details of a success, such as the publicKeyHash of a generated key; nil if there are none.
    let result: [String: String]?
    /// When the result was recorded.
    let at: Timestamp?

    init(_ item: some BulkItem, _ outcome: BulkOutcome) {
        self.item = item.name
        content = item.content
        place = item.place
        at = Timestamp(Date())
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
