extension String {
    /// The text in quotes. Quotes, backslashes, and every character, except spaces, that is invisible or changes the
    /// direction of the text are escaped.
    ///
    /// - Parameter escape: returns the escape sequence of a character that has no short escape sequence.
    func quoted(escape: (Unicode.Scalar) -> String) -> String {
        var quoted = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            default:
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
                    quoted += escape(scalar)
                default: quoted.unicodeScalars.append(scalar)
                }
            }
        }
        return quoted + "\""
    }
}
