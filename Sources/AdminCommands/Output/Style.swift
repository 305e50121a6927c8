import Foundation

/// The meaning of a cell's colour.
package enum Tone: Sendable {
    case plain, heading, good, notice, warning, critical
}

/// Whether the program prints colours, and the terminal's code for each colour.
package struct Style: Sendable {
    package static let plain = Style(isColored: false)
    package static let colored = Style(isColored: true)

    private let isColored: Bool

    private init(isColored: Bool) { self.isColored = isColored }

    /// The style for standard output. It has colours if standard output is a terminal that shows them, unless
    /// `NO_COLOR` is set to a text that is not empty (no-color.org).
    static var ofStandardOutput: Style {
        let environment = ProcessInfo.processInfo.environment
        return choose(
            isTerminal: StandardStream.output.isTerminal, noColor: environment["NO_COLOR"], term: environment["TERM"])
    }

    /// - Parameters:
    ///   - noColor: the environment variable `NO_COLOR`; nil if it is not set.
    ///   - term: the environment variable `TERM`; nil if it is not set.
    package static func choose(isTerminal: Bool, noColor: String?, term: String?) -> Style {
        Style(isColored: isTerminal && (noColor ?? "").isEmpty && term != "dumb")
    }

    package func paint(_ text: String, _ tone: Tone) -> String {
        guard isColored, let code = Self.code(tone) else { return text }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }

    /// The parameter of ECMA-48's control function "select graphic rendition".
    private static func code(_ tone: Tone) -> String? {
        switch tone {
        case .plain: nil
        case .heading: "1"
        case .good: "32"
        case .notice: "36"
        case .warning: "33"
        case .critical: "31"
        }
    }
}
