import ArgumentParser
import FoundationEssentials
package import Vocabulary

/// A time on the command line, usually in the past: RFC 3339, such as `2026-11-21T04:53:15Z`, or how long ago, such as
/// `1h`.
package enum PastTime {
    /// The part of a help text that explains how to write a time.
    static let forms = "RFC 3339, such as 2026-11-21T04:53:15Z, or how long ago, such as 1h"

    /// - Throws: `ValidationError`, for which the program exits with status 2.
    package static func parse(_ text: String) throws -> Timestamp { try parse(text, now: Timestamp(Date())) }

    package static func parse(_ text: String, now: Timestamp) throws -> Timestamp {
        if let time = Timestamp(rfc3339: text) { return time }
        // The argument parser prints "The value '…' is invalid for '…': " before this message.
        guard let seconds = DurationText.seconds(text), seconds <= DurationArgument.maximumSeconds else {
            throw ValidationError("it is not a time, expected \(forms)")
        }
        return now.adding(.seconds(-seconds))
    }
}
