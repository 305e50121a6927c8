extension String {
    /// The text with `?` for every control character, so that what others wrote can't steer a terminal.
    package func printable(keepingLines: Bool) -> String {
        var result = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control where scalar == "\n" && keepingLines: result.append(scalar)
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: result.append("?")
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    func padded(to width: Int) -> String { self + String(repeating: " ", count: Swift.max(0, width - count)) }
}
