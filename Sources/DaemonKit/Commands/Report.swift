import ArgumentParser
import Foundation
import Vocabulary

/// How a subcommand prints what it found.
struct ReportOptions: ParsableArguments {
    enum Form: String, ExpressibleByArgument, CaseIterable { case table, json }

    @Option(help: ArgumentHelp("How results are printed: table or json.", valueName: "form"))
    var output: Form = .table

    /// Lines of `name  value`, or the document.
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
