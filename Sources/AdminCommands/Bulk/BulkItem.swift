/// One of many things that a verb does the same to.
protocol BulkItem: Sendable {
    /// What people call it, the same in every run: an identifier, a file's name.
    var name: String { get }
    /// Changes with what is to be done to it: an item of another content is done again.
    var content: String { get }
    /// Where it stands in its file, such as `line 5`.
    var place: String? { get }
}

/// What became of one item.
enum BulkOutcome: Hashable, Sendable {
    /// With what is worth having in the report, by name.
    case done([String: String])
    /// It was as asked before.
    case unchanged([String: String])
    /// In one sentence.
    case failed(String)
}

/// One line of a report.
struct BulkRecord: Codable, Hashable, Sendable {
    enum Outcome: String, Codable, Sendable {
        case done, unchanged, failed
    }

    let verb: String
    let item: String
    let content: String
    let place: String?
    let outcome: Outcome
    /// Why it failed.
    let detail: String?
    let result: [String: String]?

    init(_ item: some BulkItem, of verb: String, _ outcome: BulkOutcome) {
        self.verb = verb
        self.item = item.name
        content = item.content
        place = item.place
        switch outcome {
        case .done(let result): (self.outcome, self.result, detail) = (.done, result.isEmpty ? nil : result, nil)
        case .unchanged(let result):
            (self.outcome, self.result, detail) = (.unchanged, result.isEmpty ? nil : result, nil)
        case .failed(let why): (self.outcome, self.result, detail) = (.failed, nil, why)
        }
    }
}
