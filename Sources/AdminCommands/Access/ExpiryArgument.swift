import ArgumentParser
import FoundationEssentials
package import Vocabulary

/// The value of `--expires`: how long an access or an invitation stays valid.
package struct ExpiryArgument: Hashable, Sendable {
    package let seconds: Int

    /// Parses the duration for an access: from 1s to 3653d.
    package static func parse(_ text: String) throws -> ExpiryArgument { try parse(text, longestDays: 3_653) }

    /// Parses the duration for an invitation: from 1s to 30d, the limits of the daemon.
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

    /// The time of expiry, if the duration begins now.
    package var timeFromNow: Timestamp { Timestamp(Date()).adding(.seconds(seconds)) }
}
