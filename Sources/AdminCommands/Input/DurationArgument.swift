import ArgumentParser
import Vocabulary

/// A length of time on the command line: `30d`, `12h`, `15m`, `45s`.
package struct DurationArgument: Hashable, Sendable {
    package let seconds: Int

    package static func parse(_ text: String) throws -> DurationArgument {
        guard let seconds = DurationText.seconds(text) else {
            throw ValidationError("'\(text.prefix(40))' is not a length of time, \(DurationText.expectation)")
        }
        return DurationArgument(seconds: seconds)
    }
}
