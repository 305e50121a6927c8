import FoundationEssentials
import Vocabulary

/// One item of a bulk operation.
protocol BulkItem: Sendable {
    /// Names the item for people, the same in every run: an identifier or a file's name.
    var name: String { get }
    /// Changes with the request: an item with other content is another item.
    var content: String { get }
    /// Its place in the file, such as `line 5`.
    var place: String? { get }
}

/// The result of one item.
enum BulkOutcome: Hashable, Sendable {
    /// With details for the report, by name.
    case done([String: String])
    /// The daemon already had it as requested.
    case unchanged([String: String])
    /// The code of the daemon's refusal, if it refused, and the reason in one sentence.
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
    /// The code of the daemon's refusal.
    let code: String?
    /// Why it failed.
    let detail: String?
    let result: [String: String]?
    /// When it was written.
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
