import ArgumentParser
import FoundationEssentials
package import Vocabulary

/// The value of `--expires`: after which time something ends, from 1s to 3653d.
package struct ExpiryArgument: Hashable, Sendable {
    private static let longestSeconds = 3_653 * 86_400

    package let seconds: Int

    package static func parse(_ text: String) throws -> ExpiryArgument {
        let seconds = try DurationArgument.parse(text).seconds
        // The argument parser prints "The value '…' is invalid for '…': " before this message.
        guard (1...longestSeconds).contains(seconds) else { throw ValidationError("it is not from 1s to 3653d") }
        return ExpiryArgument(seconds: seconds)
    }

    /// The time of the end, counted from now.
    package var timeFromNow: Timestamp { Timestamp(Date()).adding(.seconds(seconds)) }
}
