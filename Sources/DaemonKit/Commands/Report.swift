import ArgumentParser
import FoundationEssentials
import Vocabulary

/// The option that selects how a subcommand prints its result.
struct ReportOptions: ParsableArguments {
    enum Format: String, ExpressibleByArgument, CaseIterable { case table, json }

    @Option(help: ArgumentHelp("The format of the result: table or json.", valueName: "format"))
    var output: Format = .table

    /// Prints either `lines`, as a table of names and values, or `document` as JSON.
    func show(_ document: some Encodable, _ lines: [(name: String, value: String)]) throws {
        switch output {
        case .json:
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            print(String(decoding: try encoder.encode(document), as: UTF8.self))
        case .table:
            let width = lines.map(\.name.count).max() ?? 0
            for line in lines {
                let padding = String(repeating: " ", count: width - line.name.count)
                print("\(line.name)\(padding)  \(line.value.printable(keepingLines: true))")
            }
        }
    }
}
