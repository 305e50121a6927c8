import WireAPI

extension VerificationDocument {
    var table: Block {
        .table(
            headings: ["CHECK", "OUTCOME", "FINDING"],
            rows: checks.map { [Cell($0.check), Cell(outcome: $0.outcome), Cell($0.finding)] })
    }
}
