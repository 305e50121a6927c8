import ArgumentParser

/// A length of time on the command line: `30d`, `12h`, `15m`, `45s`.
package struct DurationArgument: Hashable, Sendable {
    package let seconds: Int

    package static func parse(_ text: String) throws -> DurationArgument {
        guard let unit = text.utf8.last.flatMap(secondsPerUnit), let count = count(text.dropLast()) else {
            throw ValidationError(
                "'\(text.prefix(40))' is no length of time, expected a number and d, h, m or s, such as 30d")
        }
        let (seconds, overflows) = count.multipliedReportingOverflow(by: unit)
        guard !overflows else {
            throw ValidationError("'\(text.prefix(40))' is too long a time")
        }
        return DurationArgument(seconds: seconds)
    }

    private static func secondsPerUnit(_ unit: UInt8) -> Int? {
        switch unit {
        case UInt8(ascii: "d"): 86_400
        case UInt8(ascii: "h"): 3_600
        case UInt8(ascii: "m"): 60
        case UInt8(ascii: "s"): 1
        default: nil
        }
    }

    /// Digits only: `Int` would read a sign.
    private static func count(_ digits: Substring) -> Int? {
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Int(digits)
    }
}
