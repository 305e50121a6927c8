import ArgumentParser
import FoundationEssentials
package import Vocabulary

/// The value of `--expires`: the time after which an access or an invitation expires.
package struct ExpiryArgument: Hashable, Sendable {
    package let seconds: Int

    /// The time until an access expires: from 1s to 3653d.
    package static func parse(_ text: String) throws -> ExpiryArgument { try parse(text, longestDays: 3_653) }

    /// The time until an invitation expires: from 1s to 30d, the limits of the daemon.
    package static func parseForInvitation(_ text: String) throws -> ExpiryArgument {
        try parse(text, longestDays: 30)
    }

    private static func parse(_ text: String, longestDays: Int) throws -> ExpiryArgument {
        let seconds = try DurationArgument.parse(text).seconds
        // The argument parser prints "The value '…' is invalid for '…': " before this message.
        guard (1...(longestDays * 86_400)).contains(seconds) else {
            throw ValidationError("it is not from 1s to \(longestDays)d")
        }
        return ExpiryArgument(seconds: seconds)
    }

    /// The time of expiry, computed from the present time.
    package var timeFromNow: Timestamp { Timestamp(Date()).adding(.seconds(seconds)) }
}
