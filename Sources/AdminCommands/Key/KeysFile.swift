package import FoundationEssentials

/// A file with a key on each line, such as the output of `key list`: the first word of a line is the key. The headings of
/// `key list`, empty lines and lines that begin with `#` are ignored.
package struct KeysFile: Sendable {
    package let keys: [KeyArgument]

    /// - Throws: ``CommandFailure`` that names the lines of the first errors (``CommandFailure/shownFileErrors``).
    package init(_ bytes: Data, named path: String) throws(CommandFailure) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(.failed, "nothing was changed: \(path) is not UTF-8")
        }
        var keys: [KeyArgument] = []
        var errors: [String] = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            guard !line.hasPrefix("PUBLIC KEY HASH") else { continue }
            guard let word = line.split(whereSeparator: \.isWhitespace).first, !word.hasPrefix("#") else { continue }
            guard let key = try? KeyArgument.parse(String(word)) else {
                errors.append("line \(index + 1): '\(word.prefix(64))' is not a key, expected a publicKeyHash")
                continue
            }
            keys.append(key)
        }
        guard errors.isEmpty else { throw .fileErrors(errors, in: path, "nothing was changed") }
        guard !keys.isEmpty else { throw CommandFailure(.failed, "nothing was changed: \(path) names no key") }
        self.keys = keys
    }
}
