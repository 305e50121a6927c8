/// A length of time as people write it: `30d`, `12h`, `15m`, `45s`.
package enum DurationText {
    /// The part of error messages that says which text is expected.
    package static let expectation = "expected a number followed by d, h, m or s, such as 30d"

    /// - Returns: the seconds; nil for any other text and for a number that overflows.
    package static func seconds(_ text: String) -> Int? {
        guard let unit = text.utf8.last.flatMap(secondsPerUnit), let count = count(text.dropLast()) else { return nil }
        let (seconds, overflows) = count.multipliedReportingOverflow(by: unit)
        return overflows ? nil : seconds
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

    /// Accepts only digits, because `Int` alone would also accept a sign.
    private static func count(_ digits: Substring) -> Int? {
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Int(digits)
    }
}
