import ArgumentParser
import Vocabulary

/// A duration on the command line: `30d`, `12h`, `15m`, `45s`.
package struct DurationArgument: Hashable, Sendable {
    /// A hundred years. Longer durations could overflow when they are added to a timestamp.
    package static let maximumSeconds = 36_525 * 86_400

    package let seconds: Int

    package static func parse(_ text: String) throws -> DurationArgument {
        guard let seconds = DurationText.seconds(text) else {
            throw ValidationError("'\(text.prefix(40))' is not a duration, \(DurationText.expectation)")
        }
        guard seconds <= maximumSeconds else {
            throw ValidationError("'\(text.prefix(40))' is too long, expected at most \(maximumSeconds / 86_400)d")
        }
        return DurationArgument(seconds: seconds)
    }
}
