import ArgumentParser
import FoundationEssentials
import Vocabulary

/// The option that selects how a subcommand prints its result.
struct ReportOptions: ParsableArguments {
    enum Form: String, ExpressibleByArgument, CaseIterable { case table, json }

    @Option(help: ArgumentHelp("The format of the result: table or json.", valueName: "form"))
    var output: Form = .table

    /// Prints lines of `name  value`, or the document as JSON.
    func show(_ document: some Encodable, _ lines: [(name: String, value: String)]) throws {
        switch output {
        case .json:
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            print(String(decoding: try encoder.encode(document), as: UTF8.self))
        case .table:
            let width = lines.map(\.name.count).max() ?? 0
            for line in lines {
                let blanks = String(repeating: " ", count: width - line.name.count)
                print("\(line.name)\(blanks)  \(line.value.printable(keepingLines: true))")
            }
        }
    }
}
