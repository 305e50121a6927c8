import FoundationEssentials
import StrictJSON
import Vocabulary

/// Results to standard output, all else to standard error.
struct Printer: Sendable {
    let form: OutputForm
    private let style = Style.ofStandardOutput

    init(form: OutputForm) { self.form = form }

    /// The daemon's document as JSON, or what `table` makes of it.
    func show(_ json: Data, orTable table: () -> [Block]) throws {
        switch form {
        case .json: self.json(try Self.parse(json))
        case .table: show(table())
        }
    }

    func show(_ blocks: [Block]) {
        StandardStream.output.write(blocks.map { $0.render(style) }.joined(separator: "\n"))
    }

    func json(_ value: JSONValue) { StandardStream.output.write(JSONText.pretty(value) + "\n") }

    /// A line of a stream of results, such as JSON on one line.
    func line(_ text: String) { StandardStream.output.write(text + "\n") }

    /// Byte for byte, nothing added.
    func raw(_ bytes: Data) { StandardStream.output.write(bytes) }

    /// One line beside the results.
    func remark(_ text: String) { StandardStream.error.write(text.printable(keepingLines: false) + "\n") }

    func warn(_ warnings: [String]) {
        for warning in warnings { remark("warning: \(warning)") }
    }

    /// - Throws: ``CommandFailure`` for text that is no JSON.
    static func parse(_ json: Data) throws(CommandFailure) -> JSONValue {
        do {
            return try JSONParser.parse(json, limits: .answer)
        } catch {
            throw CommandFailure(.refused, "merchantkeyctl: the daemon's answer can't be read: \(error)")
        }
    }
}

extension JSONLimits {
    /// What the client lets through.
    static let answer = JSONLimits(bytes: 16 << 20, depth: 32, values: 4 << 20)
}
